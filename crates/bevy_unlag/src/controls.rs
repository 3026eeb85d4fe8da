//! From keys and mouse to input, through leafwing-input-manager.

use bevy::prelude::*;
use bevy_unlag_core::{LocalControl, MoveInput, MoveSystems};
use bevy_unlag_movement::{CapsuleInput, InputGather};
use bevy_unlag_weapons::{Aim, Trigger, WeaponSystems};
use leafwing_input_manager::{plugin::InputManagerSystem, prelude::*};

use crate::{Soldier, SoldierState, plugins::equip};

/// What a player can do.
#[derive(Actionlike, Clone, Copy, PartialEq, Eq, Hash, Debug, Reflect)]
pub enum PlayerAction {
    /// Walk: forward is +Y.
    #[actionlike(DualAxis)]
    Walk,
    /// Turn the view: pixels of mouse motion, down is +Y.
    #[actionlike(DualAxis)]
    Look,
    /// Jump.
    Jump,
    /// Crouch while held.
    Crouch,
    /// Run faster, forwards, while held.
    Sprint,
    /// Walk slowly while held.
    SlowWalk,
    /// Fire while held.
    Fire,
    /// Take aim while held.
    TakeAim,
    /// Load the weapon.
    Reload,
    /// Take the first weapon in hand.
    FirstWeapon,
    /// Take the second weapon in hand.
    SecondWeapon,
    /// Take the third weapon in hand.
    ThirdWeapon,
    /// Take the fourth weapon in hand.
    FourthWeapon,
}

impl PlayerAction {
    /// Those that take a weapon in hand, in the order of slots.
    pub const WEAPONS: [Self; 4] =
        [Self::FirstWeapon, Self::SecondWeapon, Self::ThirdWeapon, Self::FourthWeapon];
}

/// Put it on an entity of its own, or on the pawn: its [`ActionState`] steers the pawn that has
/// [`LocalControl`].
#[derive(Component, Clone, Debug)]
#[require(ActionState<PlayerAction>)]
pub struct PlayerControls {
    /// Radians that the view turns a pixel of mouse motion. Default 0.002.
    pub sensitivity: f32,
    /// Whether input counts. Default true; turn it off while a menu has the mouse.
    pub enabled: bool,
}

impl Default for PlayerControls {
    fn default() -> Self {
        Self { sensitivity: 0.002, enabled: true }
    }
}

impl PlayerControls {
    /// W A S D, mouse, Space, left Ctrl or C, left Shift, left Alt; left button to fire, right button to aim, R to
    /// load, 1 to 4 for weapons.
    #[must_use]
    pub fn default_bindings() -> InputMap<PlayerAction> {
        InputMap::default()
            .with_dual_axis(PlayerAction::Walk, VirtualDPad::wasd())
            .with_dual_axis(PlayerAction::Look, MouseMove::default())
            .with(PlayerAction::Jump, KeyCode::Space)
            .with(PlayerAction::Crouch, KeyCode::ControlLeft)
            .with(PlayerAction::Crouch, KeyCode::KeyC)
            .with(PlayerAction::Sprint, KeyCode::ShiftLeft)
            .with(PlayerAction::SlowWalk, KeyCode::AltLeft)
            .with(PlayerAction::Fire, MouseButton::Left)
            .with(PlayerAction::TakeAim, MouseButton::Right)
            .with(PlayerAction::Reload, KeyCode::KeyR)
            .with(PlayerAction::FirstWeapon, KeyCode::Digit1)
            .with(PlayerAction::SecondWeapon, KeyCode::Digit2)
            .with(PlayerAction::ThirdWeapon, KeyCode::Digit3)
            .with(PlayerAction::FourthWeapon, KeyCode::Digit4)
    }
}

/// When controls are read.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ControlSystems {
    /// In [`RunFixedMainLoop`] before the fixed loop: the frame's actions are gathered. Scripted
    /// players write [`InputGather`], [`Aim`] and [`Trigger`] here.
    Gather,
}

/// Steers the pawn that has [`LocalControl`]: gathers input every frame, hands it out every tick.
/// With [`reading`](Self::reading) it also reads leafwing's [`PlayerAction`]s.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlayerControlsPlugin {
    read_actions: bool,
}

impl PlayerControlsPlugin {
    /// Reads keys and mouse. Needs Bevy's input plugins.
    #[must_use]
    pub fn reading() -> Self {
        Self { read_actions: true }
    }
}

impl Plugin for PlayerControlsPlugin {
    fn build(&self, app: &mut App) {
        app.configure_sets(
            RunFixedMainLoop,
            ControlSystems::Gather
                .in_set(RunFixedMainLoopSystems::BeforeFixedMainLoop)
                .before(WeaponSystems::Latch),
        )
        .add_observer(equip)
        .add_systems(
            RunFixedMainLoop,
            show_live.after(ControlSystems::Gather).in_set(RunFixedMainLoopSystems::BeforeFixedMainLoop),
        )
        .add_systems(FixedUpdate, hand_out.in_set(MoveSystems::Sample));
        if self.read_actions {
            app.add_plugins(InputManagerPlugin::<PlayerAction>::default())
                // leafwing swaps its states before the fixed loop; this frame's are read before that.
                .add_systems(PreUpdate, gather_actions.after(InputManagerSystem::ManualControl));
        }
    }
}

fn gather_actions(
    controls: Query<(&PlayerControls, &ActionState<PlayerAction>)>,
    mut pawns: Query<(&mut InputGather, &mut Aim, &mut Trigger), With<LocalControl>>,
) {
    for (mut gather, mut aim, mut trigger) in &mut pawns {
        for (controls, actions) in &controls {
            let on = controls.enabled;
            let look =
                if on { actions.axis_pair(&PlayerAction::Look) } else { Vec2::ZERO } * controls.sensitivity;
            gather.look(-look.x, -look.y);
            gather.axes(if on { actions.clamped_axis_pair(&PlayerAction::Walk) } else { Vec2::ZERO });
            gather.jump(on && actions.pressed(&PlayerAction::Jump));
            gather.crouch(on && actions.pressed(&PlayerAction::Crouch));
            gather.sprint(on && actions.pressed(&PlayerAction::Sprint));
            gather.walk(on && actions.pressed(&PlayerAction::SlowWalk));
            trigger.set(on && actions.pressed(&PlayerAction::Fire));
            trigger.aiming = on && actions.pressed(&PlayerAction::TakeAim);
            trigger.reload |= on && actions.just_pressed(&PlayerAction::Reload);
            let chosen = PlayerAction::WEAPONS.iter().position(|weapon| actions.just_pressed(weapon));
            trigger.equip = chosen.filter(|_| on).map(|slot| slot as u8).or(trigger.equip);
        }
        let now = gather.current();
        aim.set_if_neq(Aim { yaw: now.yaw, pitch: now.pitch });
    }
}

/// The live input draws the pawn between ticks.
fn show_live(mut pawns: Query<(&InputGather, &mut MoveInput<Soldier>), With<LocalControl>>) {
    for (gather, mut input) in &mut pawns {
        input.0.body = gather.current();
    }
}

/// Each tick takes what was gathered since the last one. The dead only look around.
fn hand_out(
    mut pawns: Query<(&mut InputGather, &mut MoveInput<Soldier>, Option<&SoldierState>), With<LocalControl>>,
) {
    for (mut gather, mut input, state) in &mut pawns {
        let taken = gather.take();
        let alive = state.is_none_or(|state| state.body.alive);
        input.0.body =
            if alive { taken } else { CapsuleInput { yaw: taken.yaw, pitch: taken.pitch, ..default() } };
    }
}
