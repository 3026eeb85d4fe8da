//! Keyboard, mouse and gamepad controls through leafwing-input-manager.

mod gamepad;
mod setup_checks;

use bevy::prelude::*;
use bevy_unlag_core::{LocalControl, MoveInput, MoveSystems, NetRole, PawnModel, PawnSystems, TickSystems};
use bevy_unlag_movement::{CapsuleInput, InputAccumulator};
use bevy_unlag_weapons::{Aim, WeaponControls, WeaponSystems};
use leafwing_input_manager::{
    plugin::{InputManagerSystem, TickActionStateSystem},
    prelude::*,
};

use crate::character::Character;

pub use gamepad::{PadButton, PadStick};

/// Longest frame in seconds for which a stick turns the view.
const LONGEST_FRAME: f32 = 0.25;

/// Actions of a player.
#[derive(Actionlike, Clone, Copy, PartialEq, Eq, Hash, Debug, Reflect)]
pub enum PlayerAction {
    /// Walk direction: forward is +Y.
    #[actionlike(DualAxis)]
    Walk,
    /// View rotation, in pixels of mouse motion: down is +Y.
    #[actionlike(DualAxis)]
    Look,
    /// Rate of view rotation, as the deflection of a stick: up is +Y.
    #[actionlike(DualAxis)]
    Turn,
    /// Jump.
    Jump,
    /// Crouch while held.
    Crouch,
    /// Run faster, forwards only, while held.
    Sprint,
    /// Walk slowly while held.
    SlowWalk,
    /// Fire while held.
    Fire,
    /// Aim down sights while held.
    #[doc(alias = "ADS")]
    TakeAim,
    /// Reload the weapon.
    Reload,
    /// Equip the first weapon.
    FirstWeapon,
    /// Equip the second weapon.
    SecondWeapon,
    /// Equip the third weapon.
    ThirdWeapon,
    /// Equip the fourth weapon.
    FourthWeapon,
}

impl PlayerAction {
    /// Actions that equip a weapon, in the order of slots.
    pub const WEAPONS: [Self; 4] =
        [Self::FirstWeapon, Self::SecondWeapon, Self::ThirdWeapon, Self::FourthWeapon];
}

/// Player controls. Put it on an entity of its own or on the pawn: its [`ActionState`] controls the pawn
/// with [`LocalControl`].
///
/// ```
/// use bevy::prelude::*;
/// use bevy_unlag::prelude::*;
///
/// /// The bindings that a player starts with. Other keys are further bindings of leafwing's `InputMap`.
/// fn spawn_controls(mut commands: Commands) {
///     commands.spawn((PlayerControls { sensitivity: 0.001, ..default() }, PlayerControls::default_bindings()));
/// }
///
/// /// While a menu is open, the pawn stands still.
/// fn open_menu(mut controls: Query<&mut PlayerControls>) {
///     controls.iter_mut().for_each(|mut controls| controls.enabled = false);
/// }
/// ```
///
/// In the book: *Controls and input*, `book/src/reference/controls.md`.
#[doc(alias = "UPlayerInput")]
#[derive(Component, Clone, Debug, Reflect)]
#[reflect(Component, Debug, Default)]
#[require(ActionState<PlayerAction>)]
pub struct PlayerControls {
    /// Mouse sensitivity, in radians per pixel. Default: 0.002.
    pub sensitivity: f32,
    /// Stick sensitivity, in radians per second at full deflection, at any frame rate. Default: 3.5.
    pub stick_sensitivity: f32,
    /// Exponent of the stick's deflection: 1 is linear, more is finer near the centre. Default: 2.
    #[doc(alias = "response curve")]
    pub stick_exponent: f32,
    /// Whether input is applied. Default: `true`. Disable it while a menu uses the mouse.
    pub enabled: bool,
}

impl Default for PlayerControls {
    fn default() -> Self {
        Self { sensitivity: 0.002, stick_sensitivity: 3.5, stick_exponent: 2.0, enabled: true }
    }
}

impl PlayerControls {
    /// Returns the default bindings: WASD to walk, mouse to look, Space to jump, left Ctrl or C to crouch,
    /// left Shift to sprint, left Alt to walk slowly, left button to fire, right button to aim, R to reload,
    /// 1 to 4 for weapons. In a browser only C crouches: Ctrl+W closes the tab.
    ///
    /// On a gamepad, by the names of an Xbox controller: left stick to walk, right stick to turn, A to jump, B to
    /// crouch, the left stick pressed to sprint, right trigger to fire, left trigger to aim, X to reload, and up,
    /// right, down and left of the D-pad for weapons. [`PadStick`] and [`PadButton`] bind others. Gamepads are
    /// connected by Bevy's feature `bevy_gilrs`, one of its default features.
    #[must_use]
    pub fn default_bindings() -> InputMap<PlayerAction> {
        let bindings = InputMap::default()
            .with_dual_axis(PlayerAction::Walk, VirtualDPad::wasd())
            .with_dual_axis(PlayerAction::Walk, PadStick::left())
            .with_dual_axis(PlayerAction::Turn, PadStick::right())
            .with_multiple(
                [
                    (PlayerAction::Jump, GamepadButton::South),
                    (PlayerAction::Crouch, GamepadButton::East),
                    (PlayerAction::Sprint, GamepadButton::LeftThumb),
                    (PlayerAction::Fire, GamepadButton::RightTrigger2),
                    (PlayerAction::TakeAim, GamepadButton::LeftTrigger2),
                    (PlayerAction::Reload, GamepadButton::West),
                    (PlayerAction::FirstWeapon, GamepadButton::DPadUp),
                    (PlayerAction::SecondWeapon, GamepadButton::DPadRight),
                    (PlayerAction::ThirdWeapon, GamepadButton::DPadDown),
                    (PlayerAction::FourthWeapon, GamepadButton::DPadLeft),
                ]
                .map(|(action, button)| (action, PadButton::new(button))),
            )
            .with_dual_axis(PlayerAction::Look, MouseMove::default())
            .with(PlayerAction::Jump, KeyCode::Space)
            .with(PlayerAction::Crouch, KeyCode::KeyC)
            .with(PlayerAction::Sprint, KeyCode::ShiftLeft)
            .with(PlayerAction::SlowWalk, KeyCode::AltLeft)
            .with(PlayerAction::Fire, MouseButton::Left)
            .with(PlayerAction::TakeAim, MouseButton::Right)
            .with(PlayerAction::Reload, KeyCode::KeyR)
            .with(PlayerAction::FirstWeapon, KeyCode::Digit1)
            .with(PlayerAction::SecondWeapon, KeyCode::Digit2)
            .with(PlayerAction::ThirdWeapon, KeyCode::Digit3)
            .with(PlayerAction::FourthWeapon, KeyCode::Digit4);
        if cfg!(target_family = "wasm") {
            bindings
        } else {
            bindings.with(PlayerAction::Crouch, KeyCode::ControlLeft)
        }
    }

    /// Returns the angles in radians by which a stick turns the view in a frame: to the right, and up.
    fn stick_turn(&self, deflection: Vec2, frame_seconds: f32) -> Vec2 {
        let length = deflection.length().min(1.0);
        let rate = length.powf(self.stick_exponent) * self.stick_sensitivity;
        deflection.normalize_or_zero() * rate * frame_seconds.min(LONGEST_FRAME)
    }
}

/// System sets of player controls.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ControlSystems {
    /// In [`RunFixedMainLoop`] before the fixed loop: accumulates the actions of the frame. Scripted input
    /// writes [`InputAccumulator`] and [`WeaponControls`] here. The view of the former is also the [`Aim`].
    Accumulate,
}

/// Controls the pawn with [`LocalControl`]: accumulates input in every frame and samples it in every tick.
/// Created with [`reading`](Self::reading) it also reads leafwing's [`PlayerAction`]s.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_unlag::{ControlSystems, prelude::*};
///
/// /// A client with a window, beside Bevy's `DefaultPlugins`.
/// fn window_client(app: &mut App) {
///     app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::reading())).add_systems(
///         Startup,
///         |mut commands: Commands| {
///             commands.spawn((PlayerControls::default(), PlayerControls::default_bindings()));
///         },
///     );
/// }
///
/// /// A client without a window, whose input comes from a script.
/// fn scripted_client(app: &mut App) {
///     app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default()))
///         .add_systems(RunFixedMainLoop, walk.in_set(ControlSystems::Accumulate));
/// }
///
/// fn walk(mut own: Single<&mut InputAccumulator, With<LocalControl>>) {
///     own.axes(Vec2::Y);
/// }
/// ```
///
/// In the book: *Controls and input*, `book/src/reference/controls.md`.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlayerControlsPlugin {
    read_actions: bool,
}

impl PlayerControlsPlugin {
    /// Creates a plugin that reads keyboard, mouse and gamepads. It needs Bevy's input plugins.
    #[must_use]
    pub fn reading() -> Self {
        Self { read_actions: true }
    }
}

impl Plugin for PlayerControlsPlugin {
    fn build(&self, app: &mut App) {
        app.configure_sets(
            RunFixedMainLoop,
            ControlSystems::Accumulate
                .in_set(RunFixedMainLoopSystems::BeforeFixedMainLoop)
                .before(WeaponSystems::CaptureView),
        )
        .insert_resource(ControlsEnabled { reads_actions: self.read_actions })
        .init_resource::<LastView>()
        .add_observer(keep_view)
        .add_systems(
            RunFixedMainLoop,
            (
                aim_along_view
                    .after(ControlSystems::Accumulate)
                    .in_set(RunFixedMainLoopSystems::BeforeFixedMainLoop)
                    .before(WeaponSystems::CaptureView),
                end_frame.in_set(RunFixedMainLoopSystems::AfterFixedMainLoop),
            ),
        )
        .register_type::<PlayerControls>();
        if self.read_actions {
            app.add_plugins((InputManagerPlugin::<PlayerAction>::default(), gamepad::register_inputs))
                // A repeated tick must not take back "just pressed" before the action was read.
                .configure_sets(
                    FixedPostUpdate,
                    TickActionStateSystem::<PlayerAction>::new().in_set(TickSystems),
                )
                // leafwing swaps its states before the fixed loop; read this frame's state before that.
                .add_systems(PreUpdate, gather_actions.after(InputManagerSystem::ManualControl));
        }
    }
}

fn gather_actions(
    time: Res<Time<Real>>,
    controls: Query<(&PlayerControls, &ActionState<PlayerAction>)>,
    mut pawns: Query<(&mut InputAccumulator, Option<&mut WeaponControls>), With<LocalControl>>,
) {
    for (mut gather, mut trigger) in &mut pawns {
        let (mut fire, mut aiming) = (false, false);
        for (controls, actions) in &controls {
            let on = controls.enabled;
            let pair = |action| if on { actions.axis_pair(&action) } else { Vec2::ZERO };
            let look = pair(PlayerAction::Look) * controls.sensitivity;
            gather.look(-look.x, -look.y);
            let turn = controls.stick_turn(pair(PlayerAction::Turn), time.delta_secs());
            gather.look(-turn.x, turn.y);
            gather.axes(pair(PlayerAction::Walk));
            gather.jump(on && actions.pressed(&PlayerAction::Jump));
            gather.crouch(on && actions.pressed(&PlayerAction::Crouch));
            gather.sprint(on && actions.pressed(&PlayerAction::Sprint));
            gather.walk(on && actions.pressed(&PlayerAction::SlowWalk));
            fire |= on && actions.pressed(&PlayerAction::Fire);
            aiming |= on && actions.pressed(&PlayerAction::TakeAim);
            let Some(trigger) = trigger.as_deref_mut() else { continue };
            trigger.reload |= on && actions.just_pressed(&PlayerAction::Reload);
            let chosen = PlayerAction::WEAPONS.iter().position(|weapon| actions.just_pressed(weapon));
            trigger.equip = chosen.filter(|_| on).map(|slot| slot as u8).or(trigger.equip);
        }
        if let Some(trigger) = trigger.as_deref_mut().filter(|_| !controls.is_empty()) {
            trigger.set_fire(fire);
            trigger.aiming = aiming;
        }
    }
}

/// Aims where the body looks: a view is written once, into the [`InputAccumulator`]. Both are measured in the
/// pawn's view frame, whatever is up for it.
fn aim_along_view(mut pawns: Query<(&InputAccumulator, &mut Aim), With<LocalControl>>) {
    for (gather, mut aim) in &mut pawns {
        let now = gather.current();
        aim.set_if_neq(Aim { yaw: now.yaw, pitch: now.pitch });
    }
}

fn end_frame(mut pawns: Query<(&mut InputAccumulator, Option<&mut WeaponControls>), With<LocalControl>>) {
    for (mut gather, trigger) in &mut pawns {
        gather.end_frame();
        if let Some(mut trigger) = trigger {
            trigger.end_frame();
        }
    }
}

/// Adds the controls of one character.
pub(crate) fn add_character<C: Character>(app: &mut App) {
    app.add_observer(insert_controls::<C>)
        .add_systems(
            RunFixedMainLoop,
            apply_frame_input::<C>
                .after(ControlSystems::Accumulate)
                .in_set(PawnSystems::Own)
                .in_set(RunFixedMainLoopSystems::BeforeFixedMainLoop)
                .run_if(resource_exists::<ControlsEnabled>),
        )
        .add_systems(
            FixedUpdate,
            (
                sample_input::<C>
                    .in_set(MoveSystems::Sample)
                    .in_set(PawnSystems::Own)
                    .run_if(resource_exists::<ControlsEnabled>),
                (setup_checks::report_missing_controls::<C>, setup_checks::report_unused_controls::<C>)
                    .in_set(PawnSystems::Own)
                    .in_set(TickSystems)
                    .after(MoveSystems::Extend)
                    .before(MoveSystems::Step),
            ),
        );
}

/// The app has a [`PlayerControlsPlugin`].
#[derive(Resource)]
struct ControlsEnabled {
    reads_actions: bool,
}

/// Input of the pawn that the player controlled before: the next one looks in the same direction.
#[derive(Resource, Default)]
struct LastView(Option<InputAccumulator>);

fn keep_view(
    lost: On<Remove, LocalControl>,
    pawns: Query<(&InputAccumulator, Option<&NetRole>, Has<WeaponControls>)>,
    mut last: ResMut<LastView>,
    mut commands: Commands,
) {
    if let Ok((gather, role, armed)) = pawns.get(lost.entity) {
        last.0 = Some(*gather);
        let mut pawn = commands.entity(lost.entity);
        pawn.try_remove::<(InputAccumulator, WeaponControls)>();
        if armed && role == Some(&NetRole::Authority) {
            // The server pulls the trigger of a pawn that its host has left.
            pawn.try_insert(WeaponControls::default());
        }
    }
}

fn insert_controls<C: Character>(
    added: On<Add, LocalControl>,
    view: Option<ResMut<LastView>>,
    pawns: Query<&PawnModel>,
    mut commands: Commands,
) {
    if let Some(mut view) = view
        && pawns.get(added.entity).is_ok_and(PawnModel::is::<C>)
    {
        let gather = view.0.take().unwrap_or_default();
        let CapsuleInput { yaw, pitch, .. } = gather.current();
        commands
            .entity(added.entity)
            .insert_if_new((gather, C::controls()))
            .entry::<Aim>()
            .and_modify(move |mut aim| *aim = Aim { yaw, pitch });
    }
}

/// Draws the pawn between ticks with the current input.
fn apply_frame_input<C: Character>(
    mut pawns: Query<(&InputAccumulator, &mut MoveInput<C>), With<LocalControl>>,
) {
    for (gather, mut input) in &mut pawns {
        C::apply_controls(&mut input.0, &gather.current());
    }
}

/// Samples the input accumulated since the last tick. A dead pawn keeps only the view.
fn sample_input<C: Character>(
    mut pawns: Query<(&mut InputAccumulator, &mut MoveInput<C>, Option<&C::State>), With<LocalControl>>,
) {
    for (mut gather, mut input, state) in &mut pawns {
        let taken = gather.take_input();
        let alive = state.is_none_or(|state| C::snapshot(state, default()).alive);
        let controls =
            if alive { taken } else { CapsuleInput { yaw: taken.yaw, pitch: taken.pitch, ..default() } };
        C::apply_controls(&mut input.0, &controls);
    }
}
