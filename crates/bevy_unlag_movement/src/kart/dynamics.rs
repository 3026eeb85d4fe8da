//! Effect of throttle, steering and resistance on the velocity of a kart.

use core::f32::consts::FRAC_PI_2;

use bevy::prelude::*;

use super::{KartConfig, KartInput, heading};

/// Velocity in metres per second and heading of a kart.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct KartMotion {
    /// Horizontal velocity.
    pub(super) velocity: Vec3,
    pub(super) heading: u32,
    /// Turn rate in radians per second, to the left.
    pub(super) spin: f32,
}

/// Returns the fraction of a velocity that is left after `dt` of drag, which grows with the square of
/// the speed. However long the step, drag does not reverse the motion.
pub(super) fn drag_factor(config: &KartConfig, velocity: Vec3, dt: f32) -> f32 {
    (1.0 - config.drag * velocity.length() / config.mass * dt).max(0.0)
}

/// Drives on a floor for `dt`, starting with the horizontal `velocity`.
pub(super) fn drive(
    config: &KartConfig,
    velocity: Vec3,
    heading: u32,
    input: KartInput,
    dt: f32,
) -> KartMotion {
    let (throttle, steering) = input.axes();
    let (forward, right) = heading::axes(heading);
    let driven = forward * (config.max_driving_force * throttle / config.mass * dt);
    let pushed = velocity * drag_factor(config, velocity, dt) + driven;
    // Rolling resistance does not drive: it stops what it would reverse, and holds a kart at rest.
    let held = config.rolling_resistance * config.gravity * dt;
    let speed = pushed.length();
    let rolling = if speed > held { pushed * (1.0 - held / speed) } else { Vec3::ZERO };

    let along = rolling.dot(forward);
    let across = rolling.dot(right);
    let slip = across - across.clamp(-config.side_grip * dt, config.side_grip * dt);
    // In reverse the distance is negative, so the kart turns the other way.
    let to_right = (along * dt / config.min_turning_radius * steering).clamp(-FRAC_PI_2, FRAC_PI_2);
    let heading = heading::turned(heading, -to_right);
    // The same components along the turned axes are the velocity turned with them, without a rounding
    // error that would accumulate.
    let (forward, right) = heading::axes(heading);
    let velocity = (forward * along + right * slip).clamp_length_max(config.max_speed);
    KartMotion { velocity, heading, spin: -to_right / dt }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DT: f32 = 1.0 / 64.0;

    /// Drives on an endless plain for `seconds`.
    fn driven(config: &KartConfig, mut motion: KartMotion, input: KartInput, seconds: f32) -> KartMotion {
        for _ in 0..(seconds / DT) as u32 {
            motion = drive(config, motion.velocity, motion.heading, input, DT);
        }
        motion
    }

    fn at_rest() -> KartMotion {
        KartMotion { velocity: Vec3::ZERO, heading: 0x2000_0000, spin: 0.0 }
    }

    #[test]
    fn top_speed_is_where_drag_equals_the_driving_force() {
        let config = KartConfig::default();
        for throttle in [1.0, -1.0] {
            let end = driven(&config, at_rest(), KartInput::new(throttle, 0.0), 60.0);
            let top = ((10_000.0_f32 - 0.015 * 1_000.0 * 9.81) / 16.0).sqrt();
            assert!((end.velocity.length() - top).abs() < 0.02, "{end:?}");
            assert!((end.velocity.dot(heading::axes(end.heading).0) - throttle * top).abs() < 0.02);
        }
        let halved = KartConfig { drag: 64.0, ..config };
        let end = driven(&halved, at_rest(), KartInput::new(1.0, 0.0), 60.0);
        assert!((end.velocity.length() - halved.top_speed()).abs() < 0.02, "{end:?}");
    }

    #[test]
    fn kart_coasts_to_rest_and_stays_at_rest() {
        let config = KartConfig::default();
        let rolling = KartMotion { velocity: heading::axes(0x2000_0000).0 * 5.0, ..at_rest() };
        let (mut motion, mut slowest) = (rolling, 5.0);
        let mut ticks = 0;
        while motion.velocity != Vec3::ZERO {
            motion = drive(&config, motion.velocity, motion.heading, KartInput::default(), DT);
            let speed = motion.velocity.dot(heading::axes(motion.heading).0);
            assert!(speed >= 0.0 && speed < slowest, "pushed back: {speed} after {slowest}");
            slowest = speed;
            ticks += 1;
        }
        // m v' = -drag v² - roll: √(m/(drag·g·c)) · atan(v √(drag/roll)).
        let roll = 0.015_f32 * 9.81;
        let exact = (1.0 / (0.016 * roll)).sqrt() * (5.0 * (0.016 / roll).sqrt()).atan();
        assert!((ticks as f32 * DT - exact).abs() < 0.1, "{} s instead of {exact} s", ticks as f32 * DT);
        for steering in [0.0, 1.0] {
            let still = drive(&config, Vec3::ZERO, 77, KartInput::new(0.0, steering), DT);
            assert_eq!(still, KartMotion { velocity: Vec3::ZERO, heading: 77, spin: -0.0 });
        }
        // A force below the rolling resistance does not move the kart.
        let hardly = KartInput { throttle: 1, steering: 0 };
        assert_eq!(driven(&config, at_rest(), hardly, 5.0).velocity, Vec3::ZERO);
    }

    #[test]
    fn steering_drives_a_circle_of_the_configured_radius_at_any_speed() {
        for force in [500.0, 10_000.0] {
            for (steering, throttle) in [(1.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (0.5, 1.0)] {
                let config = KartConfig { max_driving_force: force, ..KartConfig::default() };
                let input = KartInput::new(throttle, steering);
                let mut motion = driven(&config, at_rest(), input, 60.0);
                let (mut place, mut places) = (Vec3::ZERO, Vec::new());
                let mut turned = 0.0;
                while turned < core::f32::consts::TAU {
                    motion = drive(&config, motion.velocity, motion.heading, input, DT);
                    place += motion.velocity * DT;
                    turned += motion.spin.abs() * DT;
                    places.push(place);
                }
                let middle = places.iter().sum::<Vec3>() / places.len() as f32;
                let radius = 10.0 / input.axes().1.abs();
                for place in &places {
                    let off = place.distance(middle) - radius;
                    assert!(off.abs() < 0.02 * radius, "{off} m off {radius} m, {force} N, {input:?}");
                }
                // Steering right turns right when driving forwards, and left in reverse.
                assert_eq!(motion.spin < 0.0, steering * throttle > 0.0, "{motion:?}");
                let sideways = motion.velocity.dot(heading::axes(motion.heading).1);
                assert!(sideways.abs() < 1e-4, "sideways velocity of {sideways} m/s");
            }
        }
    }

    #[test]
    fn side_grip_stops_a_slip_and_zero_grip_does_not() {
        let sideways = KartMotion { velocity: heading::axes(0x2000_0000).1 * 8.0, ..at_rest() };
        let gripped = driven(&KartConfig::default(), sideways, KartInput::default(), 0.5);
        assert_eq!(gripped.velocity, Vec3::ZERO);
        let ice = KartConfig { side_grip: 0.0, ..KartConfig::default() };
        let slipping = driven(&ice, sideways, KartInput::default(), 0.5);
        assert!(slipping.velocity.length() > 7.0, "{slipping:?}");
    }

    #[test]
    fn invalid_configs_do_not_panic_and_finite_speeds_are_limited() {
        let usual = KartConfig::default;
        for config in [
            KartConfig { mass: 0.0, ..usual() },
            KartConfig { min_turning_radius: 0.0, ..usual() },
            KartConfig { drag: f32::INFINITY, ..usual() },
            KartConfig { max_driving_force: 1e30, ..usual() },
        ] {
            for velocity in [Vec3::ZERO, Vec3::X * 900.0] {
                let motion = drive(&config, velocity, 3, KartInput::new(1.0, 1.0), 0.5);
                // The step discards values that are not finite; nothing here may panic.
                let finite = motion.velocity.is_finite();
                assert!(!finite || motion.velocity.length() <= usual().max_speed + 1e-3, "{motion:?}");
            }
        }
    }
}
