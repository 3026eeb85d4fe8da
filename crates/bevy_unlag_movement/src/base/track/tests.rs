//! Tests of tracks, also with invalid values.

use super::*;

#[test]
fn polynomial_sine_and_cosine_match_std() {
    for i in -20_000..20_000 {
        let turns = f64::from(i) / 7_919.0;
        let (sin, cos) = sin_cos_of_turns(turns);
        assert!((sin - (turns * TAU).sin()).abs() < 1e-9, "sin of {turns}");
        assert!((cos - (turns * TAU).cos()).abs() < 1e-9, "cos of {turns}");
    }
}

fn lift() -> Shuttle {
    Shuttle { to: Vec3::Y * 10.0, travel_seconds: 4.0, pause_seconds: 1.0, ..default() }
}

fn height(shuttle: Shuttle, seconds: f64) -> f32 {
    BaseTrack::Shuttle(shuttle).pose(seconds).translation.y
}

#[test]
fn shuttle_pauses_at_both_stops_and_travels_between_them() {
    for (seconds, expected) in
        [(0.0, 0.0), (1.0, 0.0), (3.0, 5.0), (5.0, 10.0), (6.0, 10.0), (8.0, 5.0), (10.0, 0.0), (13.0, 5.0)]
    {
        assert!((height(lift(), seconds) - expected).abs() < 1e-5, "at {seconds} s");
    }
    assert!((height(Shuttle { phase_seconds: 3.0, ..lift() }, 0.0) - 5.0).abs() < 1e-5);
    assert!((height(lift(), -7.0) - 5.0).abs() < 1e-5, "also before time 0");
}

#[test]
fn shuttle_velocity_has_no_jumps() {
    let step = 1.0 / 64.0;
    let speeds: Vec<f32> = (0..640)
        .map(|i| (height(lift(), f64::from(i + 1) * step) - height(lift(), f64::from(i) * step)) * 64.0)
        .collect();
    assert!(speeds.iter().all(|speed| speed.abs() <= 1.5 * 10.0 / 4.0 + 1e-2));
    assert!(speeds.windows(2).all(|pair| (pair[1] - pair[0]).abs() < 0.1), "the velocity jumped");
}

#[test]
fn turntable_rotates_at_a_constant_rate() {
    let track = BaseTrack::Turntable(Turntable { pivot: Vec3::X, seconds_per_turn: 4.0, ..default() });
    for i in 0..40 {
        let seconds = f64::from(i) * 0.3;
        let pose = track.pose(seconds);
        let expected = Quat::from_rotation_y((seconds / 4.0 * TAU % TAU) as f32);
        assert!(pose.rotation.dot(expected).abs() > 1.0 - 1e-6, "at {seconds} s");
        assert_eq!(Vec3::from(pose.translation), Vec3::X);
        assert!(pose.rotation.is_normalized());
    }
}

#[test]
fn invalid_tracks_stay_at_the_start_and_are_finite() {
    for bad in [0.0, -1.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let shuttle = Shuttle { travel_seconds: bad, ..lift() };
        assert_eq!(height(shuttle, 3.0), 0.0, "a travel of {bad} s");
        let turntable = Turntable { seconds_per_turn: bad, phase_turns: 0.25, ..default() };
        let pose = BaseTrack::Turntable(turntable).pose(3.0);
        assert!(pose.rotation.angle_between(Quat::from_rotation_y(core::f32::consts::FRAC_PI_2)) < 1e-3);
    }
    let nan = Vec3::NAN;
    let tracks = [
        BaseTrack::Still(Isometry3d::from_translation(nan)),
        BaseTrack::Still(Isometry3d::from_rotation(Quat::from_xyzw(0.0, 0.0, 0.0, 0.0))),
        BaseTrack::Shuttle(Shuttle { to: nan, pause_seconds: f32::NAN, ..lift() }),
        BaseTrack::Shuttle(Shuttle { phase_seconds: f32::INFINITY, ..lift() }),
        BaseTrack::Turntable(Turntable { axis: nan, phase_turns: f32::NAN, ..default() }),
        BaseTrack::Turntable(Turntable { axis: Vec3::ZERO, ..default() }),
        BaseTrack::Custom(Arc::new(|seconds: f64| {
            Isometry3d::from_translation(Vec3::X * (seconds as f32).sqrt())
        })),
    ];
    for track in tracks {
        for seconds in [0.0, -1.0, 1e300, f64::NAN, f64::INFINITY] {
            let pose = track.pose(seconds);
            assert!(pose.translation.is_finite() && pose.rotation.is_normalized(), "{track:?} at {seconds}");
        }
    }
}

#[test]
fn reach_contains_all_positions_of_a_track() {
    let mut history = PoseHistory::default();
    history.push(0.0, Isometry3d::from_translation(Vec3::X));
    history.push(9.0, Isometry3d::from_translation(Vec3::NEG_Z));
    let tracks = [
        BaseTrack::Shuttle(Shuttle { from: Vec3::new(3.0, -2.0, 1.0), ..lift() }),
        BaseTrack::Turntable(Turntable { pivot: Vec3::ONE, ..default() }),
        BaseTrack::History(history),
        BaseTrack::default(),
    ];
    for track in tracks {
        let Some(bounds) = track.bounds() else { panic!("{track:?} must be bounded") };
        for i in 0..200 {
            let place = track.pose(f64::from(i) * 0.1).translation;
            assert!(bounds.contains_local_point(place.into()), "{track:?}");
        }
    }
    assert!(BaseTrack::Shuttle(Shuttle { to: Vec3::NAN, ..lift() }).bounds().is_none());
}
