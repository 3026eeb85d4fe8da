//! Writes what the fuzzers start from, made by the real encoder: `cargo run --example seeds`.

use core::time::Duration;
use std::{fs, io, path::Path};

use bevy::prelude::*;
use bevy_unlag_core::{
    Arrival, BitWriter, ExtendedInput, ExtendedState, MoveModel, NetId, ProxyUpdate, Snapshot, Tick, Up,
    ViewTime, Wire,
};
use bevy_unlag_movement::{CapsuleInput, CapsuleModel, CapsulePush, CapsuleState};
use bevy_unlag_prediction::{
    Answered, ClientAdjustment, CorrectionCause, LossLevel, MovePacket, MoveRun, ServerAnswer, StateCheck,
};
use bevy_unlag_rewind::HitGroup;
use bevy_unlag_weapons::{
    Aim, Armed, ArmsInput, ArmsState, Arsenal, Cone, FireInput, HeldWeapon, ProjectileEnd, ProjectileEndKind,
    ProjectileLaunch, ShotRefusal, ShotResult, ShotVerdict, Sight, Tracer, Trail, WeaponId,
};

#[allow(dead_code, reason = "the client uses more of it")]
#[path = "../../crates/bevy_unlag_lightyear/src/snapshots/message.rs"]
mod message;
#[allow(dead_code, reason = "the property tests use more of it")]
#[path = "../../crates/bevy_unlag_prediction/tests/properties/walker.rs"]
mod walker;

use walker::{Mode, Place, Walker, Wish};

type Soldier = Armed<CapsuleModel>;
type Input = <Soldier as MoveModel>::Input;
type State = <Soldier as MoveModel>::State;

fn encoded(value: &impl Wire) -> Vec<u8> {
    let mut w = BitWriter::default();
    value.write(&mut w);
    w.finish()
}

fn soldier() -> State {
    ExtendedState { body: CapsuleState::at(Vec3::new(3.0, 1.5, -20.25)), extension: ArmsState::new(&Arsenal::default(), &[WeaponId(0)], 7) }
}

fn move_packets() -> Vec<(&'static str, Vec<u8>)> {
    let run = CapsuleInput { forward: 127, yaw: 9_000, pitch: -300, ..default() };
    let turn = CapsuleInput { yaw: run.yaw + 90, pitch: -310, ..run };
    let jump = CapsuleInput { jump: true, right: -80, ..turn };
    let time = ViewTime { tick: Tick(990), fraction: 77 };
    let sight = Sight::new(Some(time), Vec3::new(3.0, 3.1, -20.25));
    let fire = FireInput::new(&sight, Tick(1_004)).looking(Aim::new(2.0, -0.1), Aim::new(2.01, -0.1));
    let mut claim = fire;
    claim.claim = Some(NetId(700));
    let mut pellets = fire;
    pellets.list_pellets((0..12).map(|k| Vec2::splat(k as f32 / 20.0)));
    let input = |body, fire: Option<FireInput>| Input {
        body,
        extension: ArmsInput { fire, trigger: fire.is_some(), ..ArmsInput::default() },
    };
    let hands = ArmsInput { reload: true, aiming: true, equip: Some(3), ..ArmsInput::default() };
    let packet = |newest: u16, moves: &[(u16, u16, Input)]| {
        let runs =
            moves.iter().map(|(age, length, input)| MoveRun { age: *age, length: *length, input: *input });
        let check = StateCheck::of::<Soldier>(&soldier(), Tick(newest.into()), true);
        encoded(&MovePacket {
            epoch: 3,
            sequence: 200,
            newest,
            heard: Some(240),
            check,
            runs: runs.collect(),
        })
    };
    let still = ExtendedInput::default();
    vec![
        ("stand", packet(1_000, &[(0, 12, still)])),
        ("run", packet(1_001, &[(0, 10, input(run, None))])),
        ("turn", packet(1_002, &[(0, 1, input(turn, None)), (1, 1, input(run, None)), (9, 2, still)])),
        ("jump", packet(65_535, &[(0, 1, input(jump, None)), (1, 3, input(turn, None)), (131, 29, still)])),
        ("fire", packet(1_004, &[(0, 1, input(run, Some(fire))), (1, 8, input(run, None))])),
        ("pellets", packet(1_004, &[(0, 1, input(run, Some(pellets))), (1, 8, input(run, None))])),
        ("hands", packet(1_005, &[(0, 1, Input { body: run, extension: hands }), (1, 8, input(run, None))])),
        ("claim", packet(1_004, &[(0, 1, input(run, Some(claim))), (1, 8, input(run, None))])),
    ]
}

fn server_answers() -> Vec<(&'static str, Vec<u8>)> {
    let plain = ServerAnswer::<State, CapsulePush> {
        epoch: 3,
        sequence: 9,
        answered: Answered::Move(1_000),
        waiting: 2,
        held: Duration::from_micros(31_250),
        lag: 4,
        loss: LossLevel::UNKNOWN,
        resolving: false,
        outcomes: 0,
        pushes: Vec::new(),
        adjustment: None,
    };
    let adjusted =
        |cause| Some(ClientAdjustment { cause, config: 77, surroundings: 0x1234, state: soldier() });
    let pushes = vec![
        (1_010, CapsulePush::Launch(Vec3::new(0.0, 9.0, 0.5))),
        (1_011, CapsulePush::Shove(Vec3::X)),
        (1_012, CapsulePush::Teleport(Vec3::new(-4.0, 0.0, 80.0))),
    ];
    let start = Answered::Start { now: Tick(70_000) };
    vec![
        ("acknowledgement", encoded(&plain)),
        ("outcomes", encoded(&ServerAnswer { outcomes: 0x8005, lag: -7, ..plain.clone() })),
        ("pushes", encoded(&ServerAnswer { pushes, resolving: true, ..plain.clone() })),
        (
            "start",
            encoded(&ServerAnswer {
                answered: start,
                adjustment: adjusted(CorrectionCause::Start),
                ..plain.clone()
            }),
        ),
        ("correction", encoded(&ServerAnswer { adjustment: adjusted(CorrectionCause::Terrain), ..plain })),
    ]
}

/// A runner, one that has just landed, one on a lift, and one of whom everything is odd.
fn updates() -> [(&'static str, ProxyUpdate); 4] {
    let at = |tick: u32, x: f32| {
        let place = Vec3::new(x, 0.02, -12.5);
        let snapshot = Snapshot::new(Tick(tick), place, Vec3::new(6.0, 0.0, 0.5));
        Snapshot { yaw: 40_000, pitch: -9, grounded: true, ..snapshot }
    };
    let came = |velocity: [i16; 3]| Some(Arrival { velocity, spin: None });
    let landed = Snapshot { arrival: came([192, -140, 16]), ..at(1_001, 3.1) };
    let lift = Snapshot { base: 3, crouch: 255, ..at(1_003, 1.0) };
    let odd = Snapshot {
        up: Up::new(Vec3::new(0.3, -1.0, 0.2)),
        spin: Some(-7_000),
        acceleration: [-40, 20, 3],
        arrival: Some(Arrival { velocity: [-4_000, 4_095, 12], spin: Some(30_000) }),
        alive: false,
        teleports: 5,
        falling: true,
        ..at(1_003, -8_000.0)
    };
    [
        ("runner", at(1_003, 3.3).into()),
        ("landed", ProxyUpdate::new(at(1_003, 3.3), &[landed])),
        ("lift", ProxyUpdate::new(lift, &[at(1_000, 4.0), Snapshot { tick: Tick(1_001), ..lift }])),
        ("odd", ProxyUpdate::new(odd, &[landed, Snapshot { tick: Tick(1_002), ..odd }])),
    ]
}

/// The ticks that `updates` are written with.
const BASE: Tick = Tick(1_004);

fn written(update: &ProxyUpdate) -> BitWriter {
    let mut w = BitWriter::default();
    update.write(BASE, &mut w);
    w
}

/// The tick first, then the update.
fn proxy_updates() -> Vec<(&'static str, Vec<u8>)> {
    let seed = |update: &ProxyUpdate| [&BASE.0.to_le_bytes()[..], &written(update).finish()].concat();
    updates().iter().map(|(name, update)| (*name, seed(update))).collect()
}

fn snapshot_messages() -> Vec<(&'static str, Vec<u8>)> {
    let message = |pawns: &[(u16, BitWriter)]| {
        let mut bytes = Vec::new();
        message::write(BASE, pawns.iter().map(|(id, w)| (NetId(*id), w)), |message| bytes = message);
        bytes
    };
    let all = updates();
    let of = |ids: &[u16]| -> Vec<_> {
        ids.iter().enumerate().map(|(i, id)| (*id, written(&all[i % all.len()].1))).collect()
    };
    vec![
        ("one", message(&of(&[1]))),
        ("four", message(&of(&[1, 2, 3, 4]))),
        ("apart", message(&of(&[0, 900, 40_000, 65_535]))),
        ("crowd", message(&of(&(1..18).collect::<Vec<_>>()))),
    ]
}

/// Scripts of `server_mailbox`: what happens in the lowest three bits, how much of it in the others.
fn mailboxes() -> Vec<(&'static str, Vec<u8>)> {
    let message = |lead: i8, moves: &[(u16, u16)]| {
        let input = Wish { mode: Mode::Walk, towards: Vec3::X };
        let runs = moves.iter().map(|(age, length)| MoveRun { age: *age, length: *length, input });
        let check = StateCheck::of::<Walker>(&Place::default(), Tick(0), false);
        let (epoch, sequence, newest, heard) = (0, 1, 0, Some(0));
        let bytes = encoded(&MovePacket { epoch, sequence, newest, heard, check, runs: runs.collect() });
        let mut script = vec![1 | (bytes.len() as u8) << 3, lead.cast_unsigned()];
        script.extend(bytes);
        script
    };
    let again = |times: u8| vec![3 | (times - 1) << 3];
    let newer = |lead: i8, times: u8| vec![4 | (times - 1) << 3, lead.cast_unsigned()];
    let ticks = |count: u8| vec![5 | (count - 1) << 3];
    let stall = |tenths: u8| vec![6 | tenths << 3];
    let push = vec![7 | 16 << 3];
    let (one, many) = (message(0, &[(0, 1)]), message(-20, &[(0, 17), (20, 3)]));
    vec![
        ("walk", [ticks(20), one.clone(), ticks(2), newer(0, 1), ticks(2), newer(0, 1), ticks(1)].concat()),
        ("gap", [ticks(30), message(-90, &[(0, 1)]), ticks(1), message(20, &[(0, 17)]), ticks(2)].concat()),
        ("flood", [ticks(20), one.clone(), again(32), again(32), ticks(3), newer(-15, 32)].concat()),
        ("stall", [ticks(20), one.clone(), stall(20), newer(-30, 32), ticks(20)].concat()),
        ("push", [ticks(20), one, push, ticks(2), newer(0, 4), ticks(9), many].concat()),
        ("noise", [ticks(4), vec![5 << 3, 1, 2, 3, 4, 5], ticks(30)].concat()),
    ]
}

/// What a server says of shots: which kind, and its bytes.
fn effects() -> Vec<(&'static str, Vec<u8>)> {
    let of = |kind: u8, value: &dyn Fn() -> Vec<u8>| [&[kind][..], &value()].concat();
    let (shooter, shot, weapon) = (NetId(7), Tick(1_004), WeaponId(2));
    let list = [(NetId(3), HitGroup::Head), (NetId(9), HitGroup::Limb)].into_iter().collect();
    let verdict = |result| ShotVerdict { shot, result, clamped: false };
    let to = Trail::To(Vec3::new(1.5, 2.0, -40.0));
    let cone = Cone { aim: Aim::new(2.0, -0.1), half_angle: 470 };
    let launch = ProjectileLaunch {
        shooter,
        shot,
        weapon,
        time: ViewTime { tick: Tick(990), fraction: 77 },
        from: Vec3::new(3.0, 1.5, -20.25),
        aim: Aim::new(2.0, -0.1),
        speed: 26.0,
        bounces: 0,
        flown: 0,
    };
    let end = |kind| ProjectileEnd { shooter, shot, flown: 9_000, point: Vec3::new(3.0, 0.5, -44.0), kind };
    let hit = ProjectileEndKind::Hit { target: NetId(3), group: HitGroup::Body };
    let held = HeldWeapon { weapon: Some(weapon), aiming: true, ..HeldWeapon::default() };
    vec![
        ("hit", of(0, &|| encoded(&verdict(ShotResult::Hit(list))))),
        ("refused", of(0, &|| encoded(&verdict(ShotResult::Refused(ShotRefusal::Empty))))),
        ("trail", of(1, &|| encoded(&Tracer { shooter, weapon, trail: to }))),
        ("pellets", of(1, &|| encoded(&Tracer { shooter, weapon, trail: Trail::Spread { cone, seed: 99 } }))),
        ("launch", of(2, &|| encoded(&launch))),
        ("bounced", of(2, &|| encoded(&ProjectileLaunch { bounces: 2, flown: 700, ..launch }))),
        ("wall", of(3, &|| encoded(&end(ProjectileEndKind::Wall)))),
        ("body", of(3, &|| encoded(&end(hit)))),
        ("held", of(4, &|| encoded(&held))),
    ]
}

fn main() -> io::Result<()> {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds");
    let targets = [
        ("move_packet", move_packets()),
        ("server_answer", server_answers()),
        ("proxy_update", proxy_updates()),
        ("snapshot_message", snapshot_messages()),
        ("effects", effects()),
        ("server_mailbox", mailboxes()),
    ];
    for (target, files) in targets {
        let folder = seeds.join(target);
        fs::create_dir_all(&folder)?;
        for (name, bytes) in files {
            fs::write(folder.join(name), &bytes)?;
            println!("{target}/{name}: {} bytes", bytes.len());
        }
    }
    Ok(())
}
