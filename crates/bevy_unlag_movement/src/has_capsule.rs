//! States that contain a capsule.

use bevy_unlag_core::ExtendedState;

use crate::state::CapsuleState;

/// State that contains a capsule's state.
pub trait HasCapsule {
    /// Returns the capsule's state.
    fn capsule(&self) -> &CapsuleState;

    /// Returns the capsule's state, to be changed.
    fn capsule_mut(&mut self) -> &mut CapsuleState;
}

impl HasCapsule for CapsuleState {
    fn capsule(&self) -> &CapsuleState {
        self
    }

    fn capsule_mut(&mut self) -> &mut CapsuleState {
        self
    }
}

impl<B: HasCapsule + Send + Sync + 'static, X: Send + Sync + 'static> HasCapsule for ExtendedState<B, X> {
    fn capsule(&self) -> &CapsuleState {
        self.body.capsule()
    }

    fn capsule_mut(&mut self) -> &mut CapsuleState {
        self.body.capsule_mut()
    }
}
