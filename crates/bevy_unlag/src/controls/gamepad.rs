//! Gamepad buttons and sticks as inputs of leafwing-input-manager.
//!
//! leafwing's own need its feature `gamepad`, which compiles Bevy's `bevy_gilrs` and, on Linux, needs the headers
//! of udev. These read every [`Gamepad`], whichever plugin connects it.

use bevy::{
    ecs::system::{
        StaticSystemParam,
        lifetimeless::{Read, SQuery},
    },
    input::gamepad::{
        Gamepad, GamepadAxis, GamepadButton, RawGamepadAxisChangedEvent, RawGamepadButtonChangedEvent,
        RawGamepadEvent,
    },
    prelude::*,
};
use leafwing_input_manager::{
    buttonlike::ButtonValue,
    clashing_inputs::BasicInputs,
    plugin::InputManagerSystem,
    prelude::*,
    user_input::updating::{CentralInputStore, InputRegistration, UpdatableInput},
};
use serde::{Deserialize, Serialize};

/// A button or trigger of a gamepad, to bind in an [`InputMap`]: of any gamepad, or of the one that
/// [`InputMap::set_gamepad`] names. A trigger counts as pressed from 0.75 on; Bevy's `GamepadSettings` beside
/// the [`Gamepad`] change that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Reflect, Serialize, Deserialize)]
pub struct PadButton {
    button: GamepadButton,
    #[serde(skip)]
    pad: Option<Entity>,
}

/// A stick of a gamepad, to bind in an [`InputMap`]: of any gamepad, or of the one that
/// [`InputMap::set_gamepad`] names. Of several gamepads, the stick that is deflected furthest counts. Right and up
/// are positive, and the length is at most 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Reflect, Serialize, Deserialize)]
pub struct PadStick {
    x: GamepadAxis,
    y: GamepadAxis,
    dead_zone: CircleDeadZone,
    #[serde(skip)]
    pad: Option<Entity>,
}

impl PadButton {
    /// Creates an input of a button.
    #[must_use]
    pub const fn new(button: GamepadButton) -> Self {
        Self { button, pad: None }
    }
}

impl PadStick {
    /// Returns the left stick, with a dead zone of 0.1.
    #[must_use]
    pub fn left() -> Self {
        Self::new(GamepadAxis::LeftStickX, GamepadAxis::LeftStickY)
    }

    /// Returns the right stick, with a dead zone of 0.1.
    #[must_use]
    pub fn right() -> Self {
        Self::new(GamepadAxis::RightStickX, GamepadAxis::RightStickY)
    }

    fn new(x: GamepadAxis, y: GamepadAxis) -> Self {
        Self { x, y, dead_zone: CircleDeadZone::default(), pad: None }
    }

    /// Key of the deflection in the store, which is without a dead zone.
    fn raw(self, pad: Option<Entity>) -> Self {
        Self { dead_zone: CircleDeadZone::ZERO, pad, ..self }
    }
}

/// Registers the inputs. Needs the store of leafwing's plugin.
pub(super) fn register_inputs(app: &mut App) {
    app.register_input_kind::<PadButton>(InputControlKind::Button);
    app.register_input_kind::<PadStick>(InputControlKind::DualAxis);
    app.register_buttonlike_input::<PadButton>().register_dual_axislike_input::<PadStick>();
    // leafwing clears the store in `Tick`, and orders neither before the other.
    app.configure_sets(PreUpdate, InputManagerSystem::Unify.after(InputManagerSystem::Tick));
}

/// The gamepad that an [`InputMap`] names; without one, leafwing passes a placeholder.
fn named(pad: Entity) -> Option<Entity> {
    (pad != Entity::PLACEHOLDER).then_some(pad)
}

/// Pretends that a gamepad reported something: `pad`, or the first one.
fn report(world: &mut World, pad: Option<Entity>, event: impl Fn(Entity) -> RawGamepadEvent) {
    let mut pads = world.query_filtered::<Entity, With<Gamepad>>();
    if let Some(pad) = pad.or_else(|| pads.iter(world).next()) {
        world.write_message(event(pad));
    }
}

impl UpdatableInput for PadButton {
    type SourceData = SQuery<(Entity, Read<Gamepad>)>;

    fn compute(mut store: ResMut<CentralInputStore>, pads: StaticSystemParam<Self::SourceData>) {
        for (pad, gamepad) in pads.iter() {
            for &button in gamepad.get_pressed() {
                for pad in [None, Some(pad)] {
                    store.update_buttonlike(Self { button, pad }, ButtonValue::from_pressed(true));
                }
            }
        }
    }
}

impl UserInput for PadButton {
    fn kind(&self) -> InputControlKind {
        InputControlKind::Button
    }

    fn decompose(&self) -> BasicInputs {
        BasicInputs::Simple(Box::new(*self))
    }
}

#[serde_typetag]
impl Buttonlike for PadButton {
    fn get_pressed(&self, store: &CentralInputStore, gamepad: Entity) -> Option<bool> {
        store.pressed(&Self { pad: named(gamepad), ..*self })
    }

    fn press_as_gamepad(&self, world: &mut World, gamepad: Option<Entity>) {
        self.set_value_as_gamepad(world, 1.0, gamepad);
    }

    fn release_as_gamepad(&self, world: &mut World, gamepad: Option<Entity>) {
        self.set_value_as_gamepad(world, 0.0, gamepad);
    }

    fn set_value_as_gamepad(&self, world: &mut World, value: f32, gamepad: Option<Entity>) {
        report(world, gamepad, |pad| {
            RawGamepadEvent::Button(RawGamepadButtonChangedEvent::new(pad, self.button, value))
        });
    }
}

impl UpdatableInput for PadStick {
    type SourceData = SQuery<(Entity, Read<Gamepad>)>;

    fn compute(mut store: ResMut<CentralInputStore>, pads: StaticSystemParam<Self::SourceData>) {
        for stick in [Self::left(), Self::right()] {
            let mut furthest = Vec2::ZERO;
            for (pad, gamepad) in pads.iter() {
                let axis = |axis| gamepad.get(axis).unwrap_or_default();
                let deflection = Vec2::new(axis(stick.x), axis(stick.y));
                store.update_dualaxislike(stick.raw(Some(pad)), deflection);
                if deflection.length_squared() > furthest.length_squared() {
                    furthest = deflection;
                }
            }
            store.update_dualaxislike(stick.raw(None), furthest);
        }
    }
}

impl UserInput for PadStick {
    fn kind(&self) -> InputControlKind {
        InputControlKind::DualAxis
    }

    fn decompose(&self) -> BasicInputs {
        BasicInputs::None
    }
}

#[serde_typetag]
impl DualAxislike for PadStick {
    /// A gamepad that was unplugged is centred.
    fn get_axis_pair(&self, store: &CentralInputStore, gamepad: Entity) -> Option<Vec2> {
        let deflection = store.pair(&self.raw(named(gamepad))).unwrap_or_default();
        Some(self.dead_zone.normalize(deflection))
    }

    fn set_axis_pair_as_gamepad(&self, world: &mut World, value: Vec2, gamepad: Option<Entity>) {
        for (axis, value) in [(self.x, value.x), (self.y, value.y)] {
            report(world, gamepad, |pad| {
                RawGamepadEvent::Axis(RawGamepadAxisChangedEvent::new(pad, axis, value))
            });
        }
    }
}
