//! Custom abilities: teleport, dash and the hooks of `MoveAbility`.

use core::fmt::Debug;

use bevy::{ecs::system::SystemParamItem, prelude::*};
use bevy_unlag_core::{BitReader, BitWriter, ExtendedEvent, ExtendedInput, ExtendedState, MoveModel, Wire};
use bevy_unlag_movement::{
    AbilityEvent, AbilityPair, CapsuleInput, CapsuleState, CapsuleWith, MoveAbility, MovementMode, Mover,
    MoverHit,
    abilities::{
        Dash, DashConfig, DashEvent, DashInput, Teleport, TeleportConfig, TeleportEvent, TeleportInput,
    },
};
use rand::Rng;

use crate::common::*;

/// Builds a level in which pawns can teleport and dash.
fn build(level: Level) -> App {
    let mut dash = DashConfig::default();
    let mut app =
        level.tune(|config| dash = DashConfig::register(config).expect("room for another mode")).build();
    app.insert_resource(TeleportConfig::default()).insert_resource(dash);
    app
}

/// Steps a pawn with an ability. Returns the states, and the ability's events with their ticks.
fn run_ability<A: MoveAbility>(
    app: &mut App,
    body: CapsuleState,
    ticks: usize,
    mut input: impl FnMut(usize) -> (CapsuleInput, A::Input),
) -> (Vec<ExtendedState<CapsuleState, A::State>>, Vec<(usize, A::Event)>) {
    let start = ExtendedState { body, extension: A::State::default() };
    let (states, events) = drive::<CapsuleWith<A>>(app, start, ticks, SETTLE, DT, |i, _| {
        let (body, extension) = input(i);
        ExtendedInput { body, extension }
    });
    let mut of_ability = Vec::new();
    for (tick, events) in events.into_iter().enumerate() {
        for event in events {
            if let ExtendedEvent::Extension(event) = event {
                of_ability.push((tick, event));
            }
        }
    }
    (states, of_ability)
}

fn teleport_input(pressed: bool) -> (CapsuleInput, TeleportInput) {
    (CapsuleInput::default(), TeleportInput { pressed })
}

#[test]
fn teleport_moves_ten_metres_along_the_view_and_through_walls() {
    let mut app = build(Level::with_floor().block(Vec3::new(-9.0, 0.0, -5.5), Vec3::new(9.0, 5.0, -4.5)));
    let start = expect_standing(&mut app, Vec3::ZERO);
    let (states, events) = run_ability::<Teleport>(&mut app, start, 32, |i| teleport_input(i == 3));
    let moved = states[4].body.position - start.position;
    assert!(moved.distance(Vec3::Z * -10.0) < 1e-3, "{moved}");
    assert_eq!(
        last_state(&states).body.position,
        states[4].body.position,
        "the pawn must stay at the destination"
    );
    assert!(last_state(&states).body.is_grounded());
    let [(3, TeleportEvent::Teleported { from, to })] = events[..] else { panic!("{events:?}") };
    assert_eq!(from, start.position);
    assert!(to.distance(from + Vec3::Z * -10.0) < 1e-5, "{to}");
    assert_eq!([states[3].body.teleports, states[4].body.teleports], [0, 1]);
    assert_eq!(
        CapsuleWith::<Teleport>::teleports(&states[4]),
        1,
        "the model must report the teleport, so that it is not counted as an error"
    );
    let turned = |i: usize| (CapsuleInput { yaw: 16_384, ..default() }, TeleportInput { pressed: i == 0 });
    let (states, _) = run_ability::<Teleport>(&mut app, start, 1, turned);
    let moved = last_state(&states).body.position - start.position;
    assert!(moved.distance(Vec3::X * -10.0) < 1e-3, "must teleport along the view: {moved}");
}

#[test]
fn teleport_into_a_wall_is_blocked_without_a_cooldown() {
    let mut app = build(Level::with_floor().block(Vec3::new(-9.0, 0.0, -12.0), Vec3::new(9.0, 5.0, -9.9)));
    let start = expect_standing(&mut app, Vec3::ZERO);
    let (states, events) = run_ability::<Teleport>(&mut app, start, 32, |i| teleport_input(i == 3));
    assert_eq!(events, [(3, TeleportEvent::Blocked)]);
    let last = last_state(&states);
    assert_eq!((last.body.position, last.body.teleports), (start.position, 0));
    assert_eq!(last.extension.cooldown, 0.0, "a blocked teleport must not start the cooldown");
}

#[test]
fn teleport_needs_an_expired_cooldown_and_a_new_press() {
    let mut app = build(Level::with_floor());
    let start = expect_standing(&mut app, Vec3::ZERO);
    let mut times = |presses: &[usize]| {
        let (_, events) =
            run_ability::<Teleport>(&mut app, start, 96, |i| teleport_input(presses.contains(&i)));
        events.into_iter().map(|(tick, _)| tick).collect::<Vec<usize>>()
    };
    assert_eq!(times(&[0, 30, 63]), [0], "the cooldown of 1 s is not over");
    assert_eq!(times(&[0, 64]), [0, 64]);
    let held: Vec<usize> = (0..96).collect();
    assert_eq!(times(&held), [0], "a held button counts as one press");
}

#[test]
fn disabled_pawn_uses_no_abilities() {
    let mut app = build(Level::with_floor());
    let start = CapsuleState { disabled: true, ..expect_standing(&mut app, Vec3::ZERO) };
    let (states, events) = run_ability::<(Teleport, Dash)>(&mut app, start, 32, |i| {
        let (first, second) = (TeleportInput { pressed: i % 4 == 0 }, DashInput { pressed: i % 4 == 2 });
        (axis_inputs(127, 127, 1)[0], AbilityPair { first, second })
    });
    assert!(events.is_empty(), "{events:?}");
    assert_eq!(last_state(&states).body.position, start.position);
}

fn dash_at(tick: usize, body: CapsuleInput) -> impl FnMut(usize) -> (CapsuleInput, DashInput) {
    move |i| (body, DashInput { pressed: i == tick })
}

#[test]
fn dash_covers_its_speed_times_its_duration() {
    let mut app = build(Level::with_floor());
    let start = expect_standing(&mut app, Vec3::ZERO);
    let right = CapsuleInput { right: 127, ..default() };
    for (body, direction) in [(CapsuleInput::default(), Vec3::NEG_Z), (right, Vec3::X)] {
        let (states, events) = run_ability::<Dash>(&mut app, start, 20, dash_at(0, body));
        let [(0, DashEvent::Started { direction: went }), (ended, DashEvent::Ended)] = events[..] else {
            panic!("{events:?}")
        };
        assert!(went.distance(direction) < 1e-5, "{went}");
        assert_eq!(ended, 12, "0.2 s end in the 13th tick");
        let moved = states[13].body.position - start.position;
        assert!(moved.distance(direction * 4.0) < 0.01, "{moved}");
        assert!((states[13].body.velocity.length() - 6.0).abs() < 1e-3, "{:?}", states[13]);
        assert!(last_state(&states).body.is_grounded(), "{:?}", last_state(&states));
    }
}

#[test]
fn dash_stops_at_a_wall_and_still_ends() {
    let mut app = build(Level::with_floor().block(Vec3::new(-9.0, 0.0, -3.0), Vec3::new(9.0, 5.0, -2.0)));
    let start = expect_standing(&mut app, Vec3::ZERO);
    let (states, events) = run_ability::<Dash>(&mut app, start, 32, dash_at(0, CapsuleInput::default()));
    let last = last_state(&states).body;
    assert!((last.position.z - (-2.0 + 0.345)).abs() < 5e-3, "{last:?}");
    assert_eq!(events.len(), 2, "the dash must end at the wall: {events:?}");
    assert!(last.is_grounded(), "{last:?}");
}

#[test]
fn dash_in_the_air_keeps_its_height_until_it_ends() {
    let mut app = build(Level::with_floor());
    let start = CapsuleState { velocity: Vec3::new(1.0, -3.0, 0.0), ..CapsuleState::at(Vec3::Y * 20.0) };
    let (states, _) = run_ability::<Dash>(&mut app, start, 32, dash_at(0, CapsuleInput::default()));
    for state in &states[..14] {
        assert!((state.body.position.y - 20.0).abs() < 1e-4, "{state:?}");
    }
    assert!(matches!(states[5].body.mode, MovementMode::Custom(_)), "{:?}", states[5]);
    let last = last_state(&states).body;
    assert!(
        last.mode == MovementMode::Falling && last.velocity.y < -1.0,
        "the pawn must fall after the dash: {last:?}"
    );
}

#[test]
fn dash_restarts_only_after_its_cooldown() {
    let mut app = build(Level::with_floor());
    let start = expect_standing(&mut app, Vec3::Z * 20.0);
    let presses = |i: usize| (CapsuleInput::default(), DashInput { pressed: i.is_multiple_of(8) });
    let (_, events) = run_ability::<Dash>(&mut app, start, 200, presses);
    let started: Vec<usize> = events
        .iter()
        .filter(|(_, event)| matches!(event, DashEvent::Started { .. }))
        .map(|(tick, _)| *tick)
        .collect();
    assert_eq!(started, [0, 80, 160]);
}

#[test]
fn dash_interrupted_by_a_teleport_ends_and_keeps_its_cooldown() {
    let mut app = build(Level::with_floor());
    let start = expect_standing(&mut app, Vec3::ZERO);
    let (states, _) = run_ability::<Dash>(&mut app, start, 4, dash_at(0, CapsuleInput::default()));
    let mut thrown = last_state(&states);
    thrown.body.teleport_to(Vec3::new(0.0, 3.0, 20.0));
    let (states, _) =
        drive::<CapsuleWith<Dash>>(&mut app, thrown, 64, SETTLE + 4, DT, |_, _| ExtendedInput::default());
    assert_eq!(states[1].extension.left, 0.0, "{:?}", states[1]);
    assert!(states[1].extension.cooldown > 0.9, "the cooldown must be kept: {:?}", states[1]);
    assert!(
        last_state(&states).body.position.z > 19.9 && last_state(&states).body.is_grounded(),
        "{:?}",
        last_state(&states)
    );
}

/// Random inputs with random presses of both abilities.
fn random_ability_inputs(ticks: usize) -> Vec<(CapsuleInput, AbilityPair<TeleportInput, DashInput>)> {
    let mut rng = rng(21);
    random_inputs(22, ticks)
        .into_iter()
        .map(|body| {
            let first = TeleportInput { pressed: rng.random_bool(0.05) };
            (body, AbilityPair { first, second: DashInput { pressed: rng.random_bool(0.1) } })
        })
        .collect()
}

#[test]
fn ability_pair_replays_from_any_tick_bit_for_bit() {
    let mut app = build(cluttered_level());
    let start = CapsuleState::at(Vec3::Y * 4.0);
    let inputs = random_ability_inputs(600);
    let (states, events) = run_ability::<(Teleport, Dash)>(&mut app, start, inputs.len(), |i| inputs[i]);
    let firsts = events.iter().filter(|(_, event)| matches!(event, AbilityEvent::First(_))).count();
    assert!(firsts > 3 && events.len() - firsts > 3, "both abilities must be used: {events:?}");
    for from in (0..600).step_by(37) {
        let (again, _) = drive::<CapsuleWith<(Teleport, Dash)>>(
            &mut app,
            states[from],
            inputs.len() - from,
            SETTLE + from as u32,
            DT,
            |i, _| {
                let (body, extension) = inputs[from + i];
                ExtendedInput { body, extension }
            },
        );
        assert_eq!(first_difference(&states[from..], &again), None, "from tick {from}");
    }
}

fn assert_round_trip<T: Wire + PartialEq + Debug>(value: &T) {
    let bytes = bits(value);
    assert_eq!(T::read(&mut BitReader::new(&bytes)).as_ref(), Ok(value));
}

#[test]
fn states_and_inputs_with_abilities_round_trip_over_the_wire() {
    let mut app = build(cluttered_level());
    let inputs = random_ability_inputs(300);
    let start = CapsuleState::at(Vec3::Y * 4.0);
    let (states, _) = run_ability::<(Teleport, Dash)>(&mut app, start, inputs.len(), |i| inputs[i]);
    let kinds: Vec<u32> = states.iter().map(CapsuleWith::<(Teleport, Dash)>::kind).collect();
    assert!(kinds.windows(2).any(|pair| pair[0] != pair[1]), "kinds must differ between ability states");
    for state in &states {
        assert_round_trip(state);
    }
    let extended = |(body, extension)| ExtendedInput { body, extension };
    let mut base = ExtendedInput::default();
    for input in inputs.into_iter().map(extended) {
        // The wire format has no -128; no stick sends it.
        let bounded = CapsuleInput {
            forward: input.body.forward.max(-127),
            right: input.body.right.max(-127),
            ..input.body
        };
        let input = ExtendedInput { body: bounded, ..input };
        assert_round_trip(&input);
        let mut writer = BitWriter::default();
        input.write_delta(&base, &mut writer);
        let bytes = writer.finish();
        assert_eq!(ExtendedInput::read_delta(&base, &mut BitReader::new(&bytes)), Ok(input));
        base = input;
    }
}

/// Doubles the maximum speed and halves the acceleration.
struct DoubleSpeed;

impl MoveAbility for DoubleSpeed {
    type Param = ();
    type Input = ();
    type State = ();
    type Event = ();
    type Cue = ();

    fn max_speed(_: &SystemParamItem<()>, (): &(), _: &Mover<'_, '_, '_>, usual: f32) -> f32 {
        usual * 2.0
    }

    fn max_acceleration(_: &SystemParamItem<()>, (): &(), _: &Mover<'_, '_, '_>, usual: f32) -> f32 {
        usual * 0.5
    }

    fn kind((): &()) -> u32 {
        0
    }
}

#[test]
fn ability_overrides_maximum_speed_and_acceleration() {
    let mut app = Level::with_floor().build();
    let start = expect_standing(&mut app, Vec3::X * -30.0);
    let (states, _) = run_ability::<DoubleSpeed>(&mut app, start, 192, |_| (axis_inputs(127, 0, 1)[0], ()));
    let full =
        states.iter().position(|s| s.body.velocity.x >= 12.0 - 1e-3).expect("must reach twice the speed");
    let seconds = full as f32 * DT;
    assert!((-1e-3..DT).contains(&(seconds - 12.0 / 10.24)), "after {seconds} s");
    assert!((last_state(&states).body.velocity.x - 12.0).abs() < 1e-3, "{:?}", last_state(&states));
    let crouched = CapsuleInput { right: 127, crouch: true, ..default() };
    let (states, _) = run_ability::<DoubleSpeed>(&mut app, start, 192, |_| (crouched, ()));
    assert!(
        (last_state(&states).body.velocity.x - 6.0).abs() < 1e-3,
        "must be doubled when crouched, too: {:?}",
        last_state(&states)
    );
}

/// Emits the results of the mover's scene queries as an event.
struct QueryProbe;

#[derive(Clone, Copy, Debug)]
struct ProbeResult {
    ahead: Option<MoverHit>,
    below: Option<f32>,
    free: [bool; 2],
    up: Vec3,
}

#[derive(Resource, Clone, Copy)]
struct ProbePoints {
    ahead: Vec3,
    wall: Vec3,
    air: Vec3,
}

impl MoveAbility for QueryProbe {
    type Param = Res<'static, ProbePoints>;
    type Input = ();
    type State = ();
    type Event = ProbeResult;
    type Cue = ();

    fn begin(
        place: &SystemParamItem<Self::Param>,
        (): &mut (),
        (): &(),
        mover: &mut Mover<'_, '_, '_>,
        events: &mut Vec<ProbeResult>,
    ) {
        let ahead = mover.sweep(place.ahead);
        let free = [mover.is_free(place.wall), mover.is_free(place.air)];
        events.push(ProbeResult { ahead, below: mover.floor_below(3.0), free, up: mover.up() });
    }

    fn kind((): &()) -> u32 {
        0
    }
}

#[test]
fn ability_queries_the_level_correctly_for_any_up_direction() {
    for turn in [Quat::IDENTITY, Quat::from_rotation_arc(Vec3::Y, Vec3::new(0.6, -0.8, 0.0))] {
        let mut app = Level::with_floor()
            .block(Vec3::new(3.0, 0.0, -9.0), Vec3::new(4.0, 5.0, 9.0))
            .turned(turn)
            .build();
        app.insert_resource(ProbePoints {
            ahead: turn * (Vec3::X * 10.0),
            wall: turn * Vec3::new(3.2, 1.0, 0.0),
            air: turn * Vec3::new(30.0, 8.0, 0.0),
        });
        let start = expect_standing(&mut app, Vec3::ZERO);
        let (states, events) =
            run_ability::<QueryProbe>(&mut app, start, 1, |_| (CapsuleInput::default(), ()));
        let [(0, seen)] = events[..] else { panic!("{events:?}") };
        let hit = seen.ahead.expect("the sweep must hit the wall");
        assert!((hit.distance - (3.0 - 0.345)).abs() < 1e-3, "{hit:?}");
        assert!(hit.normal.distance(turn * Vec3::NEG_X) < 1e-3, "{hit:?}");
        assert!((turn.inverse() * hit.point).x > 2.99, "{hit:?}");
        assert!(hit.position.distance(start.position + turn * Vec3::X * hit.distance) < 1e-4, "{hit:?}");
        assert!(seen.below.is_some_and(|below| HOVER.contains(&below)), "{seen:?}");
        assert_eq!(seen.free, [false, true]);
        assert!(seen.up.distance(turn * Vec3::Y) < 1e-5, "{seen:?}");
        assert_eq!(last_state(&states).body.position, start.position, "queries must not move the pawn");
    }
}

/// Zeroes the axes and holds the crouch button.
struct ForcedCrouch;

impl MoveAbility for ForcedCrouch {
    type Param = ();
    type Input = ();
    type State = ();
    type Event = ();
    type Cue = ();

    fn body_input(_: &SystemParamItem<()>, (): &(), (): &(), body: CapsuleInput) -> CapsuleInput {
        CapsuleInput { forward: 0, right: 0, crouch: true, ..body }
    }

    fn kind((): &()) -> u32 {
        0
    }
}

#[test]
fn ability_overrides_the_players_body_input() {
    let mut app = Level::with_floor().build();
    let start = expect_standing(&mut app, Vec3::ZERO);
    let run = CapsuleInput { right: 127, ..default() };
    let (states, _) = run_ability::<ForcedCrouch>(&mut app, start, 64, |_| (run, ()));
    let last = last_state(&states).body;
    assert!(last.crouched && last.position.distance(start.position) < 1e-4, "{last:?}");
}
