//! Calls from a step into abilities.

use crate::{input::CapsuleInput, mover::Mover, step_state::Limits};

/// Calls from a step into its abilities.
pub(crate) trait AbilityHooks {
    fn body_input(&self, body: CapsuleInput) -> CapsuleInput {
        body
    }
    fn begin(&mut self, _mover: &mut Mover<'_, '_, '_>) {}
    fn custom(&mut self, _mover: &mut Mover<'_, '_, '_>, _seconds: f32) {}
    fn end(&mut self, _mover: &mut Mover<'_, '_, '_>) {}
    fn limits(&self, _mover: &Mover<'_, '_, '_>, usual: Limits) -> Limits {
        usual
    }
}

/// Capsule without abilities.
impl AbilityHooks for () {}
