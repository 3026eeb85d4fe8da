//! Ladder climbing: a custom movement mode and an ability.

use bevy_unlag_movement::{
    CapsuleConfig, CustomMode, ModePhysics, MoveAbility, MovementMode, Mover, TooManyModes, VolumeId,
};

/// Volume in front of a ladder.
pub const LADDER: VolumeId = VolumeId(20);
/// Name of the movement mode.
const MODE: &str = "Ladder";

/// Climbs while the pawn is in [`LADDER`]. It needs no state besides the body's, so it is stateless, and it
/// is predicted like any step.
#[derive(Clone, Copy, Debug)]
pub struct Climb;

impl Climb {
    /// Registers the movement mode.
    ///
    /// # Errors
    /// Returns an error when there are too many modes.
    pub fn register(config: &mut CapsuleConfig) -> Result<MovementMode, TooManyModes> {
        config.register_mode(CustomMode {
            name: MODE.to_owned(),
            physics: ModePhysics::Fly,
            max_speed: 2.5,
            // On a ladder the jump button climbs up.
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
    type Cue = ();

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
