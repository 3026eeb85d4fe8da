//! A mode and an ability of the game's own: ladders.

use bevy_unlag_movement::{
    CapsuleConfig, CustomMode, ModePhysics, MoveAbility, MovementMode, Mover, TooManyModes, VolumeId,
};

/// The volume in front of a ladder.
pub const LADDER: VolumeId = VolumeId(20);
/// The name of the mode.
const MODE: &str = "Ladder";

/// Climbs while the pawn is in [`LADDER`]. All that it needs is in the body's state already, so it
/// has none of its own, and it is predicted like a step.
#[derive(Clone, Copy, Debug)]
pub struct Climb;

impl Climb {
    /// Registers the mode.
    ///
    /// # Errors
    /// When there are too many modes.
    pub fn register(config: &mut CapsuleConfig) -> Result<MovementMode, TooManyModes> {
        config.register_mode(CustomMode {
            name: MODE.to_owned(),
            physics: ModePhysics::Fly,
            max_speed: 2.5,
            // On a ladder the button goes up, it does not jump off.
            can_jump: false,
            ..CustomMode::default()
        })
    }
}

impl MoveAbility for Climb {
    type Param = ();
    type Input = ();
    type State = ();
    type Event = ();

    fn begin(
        _param: &(),
        _state: &mut (),
        _input: &(),
        mover: &mut Mover<'_, '_, '_>,
        _events: &mut Vec<()>,
    ) {
        let Some(ladder) = mover.config().mode_named(MODE) else { return };
        let (on, reaches) = (mover.mode() == ladder, mover.state().volume == LADDER);
        if reaches && matches!(mover.mode(), MovementMode::Walking | MovementMode::Falling) {
            mover.leave_floor();
            mover.set_mode(ladder);
        } else if on && !reaches {
            mover.set_mode(MovementMode::Falling);
        }
    }

    fn kind(_state: &()) -> u32 {
        0
    }
}
