//! What happened in a step.

/// Something that happened in a step, for sounds, effects and damage.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum MoveEvent {
    /// Feet met a walkable floor after a fall.
    Landed {
        /// Metres per second downwards at the impact.
        speed: f32,
    },
    /// Feet left the floor by a jump.
    Jumped,
    /// The floor ended under the feet.
    WalkedOff,
    /// The capsule shrank.
    Crouched,
    /// The capsule grew again.
    Stood,
}
