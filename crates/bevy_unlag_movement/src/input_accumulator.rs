//! Accumulator that turns per-frame input into one input per tick. Several frames may pass in a tick,
//! and several ticks in a frame.

use bevy::prelude::*;

use crate::input::CapsuleInput;

/// Accumulates a player's input devices over frames and produces one [`CapsuleInput`] per tick. A tap
/// that starts and ends between two ticks still gives one tick with the button down.
#[doc(alias = "ConsumeMovementInputVector")]
#[derive(Component, Clone, Copy, PartialEq, Default, Debug, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct InputAccumulator {
    yaw: f64,
    pitch: f64,
    axes: Vec2,
    jump: Button,
    crouch: Button,
    sprint: Button,
    walk: Button,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Reflect)]
struct Button {
    held: bool,
    tapped: bool,
}

impl Button {
    fn set(&mut self, held: bool) {
        self.held = held;
        self.tapped |= held;
    }

    fn is_down(self) -> bool {
        self.held || self.tapped
    }
}

impl InputAccumulator {
    /// Turns the view by angles in radians: positive yaw turns left, positive pitch looks up. Ignores
    /// values that are not finite.
    pub fn look(&mut self, delta_yaw: f32, delta_pitch: f32) {
        let finite = |v: f32| if v.is_finite() { f64::from(v) } else { 0.0 };
        self.set_view(self.yaw + finite(delta_yaw), self.pitch + finite(delta_pitch));
    }

    /// Sets the view in radians, for example at a spawn point. Values that are not finite become 0.
    pub fn set_view(&mut self, yaw: f64, pitch: f64) {
        let limit = f64::from(crate::input::PITCH_LIMIT) / 65_536.0 * core::f64::consts::TAU;
        self.yaw = if yaw.is_finite() { yaw % core::f64::consts::TAU } else { 0.0 };
        self.pitch = if pitch.is_finite() { pitch.clamp(-limit, limit) } else { 0.0 };
    }

    /// Sets the current position of an analogue stick or of keys: `x` is right, `y` is forwards.
    pub fn axes(&mut self, axes: Vec2) {
        self.axes = axes;
    }

    /// Sets whether the jump button is down.
    pub fn jump(&mut self, held: bool) {
        self.jump.set(held);
    }

    /// Sets whether the crouch button is down.
    pub fn crouch(&mut self, held: bool) {
        self.crouch.set(held);
    }

    /// Sets whether the sprint button is down.
    pub fn sprint(&mut self, held: bool) {
        self.sprint.set(held);
    }

    /// Sets whether the button for walking slowly is down.
    pub fn walk(&mut self, held: bool) {
        self.walk.set(held);
    }

    /// Returns the view of this frame in radians: yaw and pitch.
    #[must_use]
    pub fn view(&self) -> (f64, f64) {
        (self.yaw, self.pitch)
    }

    /// Returns the input that a tick would get now, without consuming taps. Meant for the discarded step
    /// that renders the local pawn between ticks.
    #[must_use]
    pub fn current(&self) -> CapsuleInput {
        let mut input = CapsuleInput {
            jump: self.jump.is_down(),
            crouch: self.crouch.is_down(),
            sprint: self.sprint.is_down(),
            walk: self.walk.is_down(),
            ..default()
        };
        input.set_axes(self.axes);
        input.set_look(self.yaw, self.pitch);
        input
    }

    /// Returns the input of this tick and consumes taps; call it once per tick.
    pub fn take_input(&mut self) -> CapsuleInput {
        let input = self.current();
        for button in [&mut self.jump, &mut self.crouch, &mut self.sprint, &mut self.walk] {
            button.tapped = false;
        }
        input
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(gather: &mut InputAccumulator, jump: bool) {
        gather.look(0.01, 0.0);
        gather.axes(Vec2::Y);
        gather.jump(jump);
    }

    #[test]
    fn tap_in_frames_without_a_tick_reaches_the_next_tick_once() {
        let mut gather = InputAccumulator::default();
        frame(&mut gather, true);
        frame(&mut gather, false);
        frame(&mut gather, false);
        assert!(gather.current().jump && gather.current().jump, "current() must not consume the tap");
        let first = gather.take_input();
        assert!(first.jump);
        let mut expected = CapsuleInput::default();
        expected.set_look(0.03, 0.0);
        assert_eq!(first.yaw, expected.yaw, "view changes must add up over frames");
        assert!(!gather.take_input().jump);
    }

    #[test]
    fn held_button_is_down_in_every_tick() {
        let mut gather = InputAccumulator::default();
        for _ in 0..3 {
            frame(&mut gather, true);
            assert!(gather.take_input().jump);
        }
        frame(&mut gather, false);
        assert!(!gather.take_input().jump);
    }

    #[test]
    fn several_ticks_in_a_frame_share_the_axes_and_the_view() {
        let mut gather = InputAccumulator::default();
        frame(&mut gather, false);
        let first = gather.take_input();
        assert_eq!(first.forward, 127);
        assert_eq!(gather.take_input(), first);
        assert_eq!(gather.take_input(), first);
    }

    #[test]
    fn non_finite_input_is_ignored() {
        let mut gather = InputAccumulator::default();
        gather.look(0.5, 9.0);
        let before = gather;
        gather.look(f32::NAN, f32::INFINITY);
        assert_eq!(gather, before);
        gather.axes(Vec2::NAN);
        assert_eq!(gather.take_input().pitch, crate::input::PITCH_LIMIT);
    }
}
