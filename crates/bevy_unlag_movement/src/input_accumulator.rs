//! Accumulator that turns per-frame input into one input per tick. Several frames may pass in a tick,
//! and several ticks in a frame.

use bevy::prelude::*;

use crate::input::CapsuleInput;

/// Accumulates a player's input devices over frames and produces one [`CapsuleInput`] per tick. A tap
/// that starts and ends between two ticks still gives one tick with the button down.
///
/// Several sources may write in one frame, such as keys, a gamepad and a script: axes and turns add up, and a
/// button is down if it is down for any of them. Each source writes in every frame;
/// [`end_frame`](Self::end_frame) releases what is not written again.
///
/// ```
/// use bevy_unlag_movement::InputAccumulator;
///
/// let mut input = InputAccumulator::default();
/// input.jump(true);
/// input.end_frame();
/// input.jump(false);
/// input.end_frame();
/// // Both frames were before the tick, which still jumps.
/// assert!(input.take_input().jump);
/// assert!(!input.take_input().jump);
/// ```
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
        self.held |= held;
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

    /// Turns the view towards a direction in the frame of the pawn's view, which is the world's where +Y is up;
    /// see [`ViewFrame::to_local`](bevy_unlag_core::ViewFrame::to_local). Ignores a direction that is not finite
    /// or zero.
    pub fn look_along(&mut self, direction: Vec3) {
        if let Some(way) = direction.try_normalize() {
            // Straight up or down, the heading stays.
            let yaw = if way.x == 0.0 && way.z == 0.0 {
                self.yaw
            } else {
                f64::from(-way.x).atan2(f64::from(-way.z))
            };
            self.set_view(yaw, f64::from(way.y).asin());
        }
    }

    /// Adds the deflection of an analogue stick or of keys: `x` is right, `y` is forwards. The sum of all
    /// sources of the frame is clamped to ± 1. Ignores values that are not finite.
    pub fn axes(&mut self, axes: Vec2) {
        if axes.is_finite() {
            self.axes += axes;
        }
    }

    /// Ends the frame: centres the axes and releases the buttons, except for taps that no tick has seen. Call it
    /// once per frame, after its ticks; `PlayerControlsPlugin` of the crate `bevy_unlag` does.
    pub fn end_frame(&mut self) {
        self.axes = Vec2::ZERO;
        for button in [&mut self.jump, &mut self.crouch, &mut self.sprint, &mut self.walk] {
            button.held = false;
        }
    }

    /// Reports whether the jump button is down.
    pub fn jump(&mut self, held: bool) {
        self.jump.set(held);
    }

    /// Reports whether the crouch button is down.
    pub fn crouch(&mut self, held: bool) {
        self.crouch.set(held);
    }

    /// Reports whether the sprint button is down.
    pub fn sprint(&mut self, held: bool) {
        self.sprint.set(held);
    }

    /// Reports whether the button for walking slowly is down.
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
        gather.end_frame();
        frame(&mut gather, false);
        gather.end_frame();
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
            gather.end_frame();
        }
        frame(&mut gather, false);
        assert!(!gather.take_input().jump);
    }

    /// Fails if the axes or buttons of a second source replace those of the first.
    #[test]
    fn sources_of_one_frame_add_up_and_are_released_in_the_next() {
        let mut gather = InputAccumulator::default();
        // A stick and keys, in this order and in the other one.
        for sources in [[Vec2::new(0.25, 0.0), Vec2::Y], [Vec2::Y, Vec2::new(0.25, 0.0)]] {
            for (axes, crouch) in sources.into_iter().zip([true, false]) {
                gather.axes(axes);
                gather.crouch(crouch);
            }
            let input = gather.take_input();
            assert_eq!((input.right, input.forward, input.crouch), (32, 127, true));
            gather.end_frame();
        }
        gather.axes(Vec2::Y);
        gather.axes(Vec2::NEG_Y);
        assert_eq!(gather.take_input().forward, 0);
        gather.end_frame();
        assert_eq!(gather.take_input(), CapsuleInput::default());
    }

    #[test]
    fn direction_and_angles_give_the_same_view() {
        for (yaw, pitch) in [(0.0, 0.0), (1.0, 0.5), (-3.0, -1.2), (2.0, 1.5)] {
            let mut by_angles = InputAccumulator::default();
            by_angles.set_view(yaw, pitch);
            let expected = by_angles.current();
            let mut by_direction = InputAccumulator::default();
            by_direction.look_along(expected.look() * 3.0);
            let found = by_direction.current();
            let turn = found.yaw.wrapping_sub(expected.yaw).cast_signed();
            assert!(turn.abs() <= 1 && (found.pitch - expected.pitch).abs() <= 2, "{found:?} {expected:?}");
            by_direction.look_along(Vec3::ZERO);
            by_direction.look_along(Vec3::NAN);
            assert_eq!(by_direction.current(), found);
        }
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
