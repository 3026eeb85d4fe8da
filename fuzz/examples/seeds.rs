//! Generator of the fuzz targets' seeds, using the real encoders: `cargo run --example seeds`.

use core::time::Duration;
use std::{fs, io, path::Path};

use bevy::prelude::*;
use bevy_unlag_core::{
    Arrival, BitWriter, ExtendedInput, ExtendedState, MoveModel, NetId, ProxyUpdate, Snapshot, Tick, Up,
    ViewTime, Wire,
};
use lightyear_guard::{ConnectTokenRequest, ServerKey};
use bevy_unlag_lightyear::fuzzing::example_messages;
use bevy_unlag_movement::{
    CapsuleInput, CapsuleModel, CapsulePush, CapsuleState, CapsuleWith, KartInput, KartModel, KartPush,
    KartState,
    abilities::{Dash, Teleport},
};
use bevy_unlag_prediction::{
    AckedMove, ClientAdjustment, CorrectionCause, LossLevel, MovePacket, MoveRun, MoveAck, StateCheck,
};
use bevy_unlag_rewind::{EvidenceLog, HitGroup, ShotEvidence};
use bevy_unlag_weapons::{
    Aim, WithWeapons, WeaponInput, WeaponState, Arsenal, SpreadCone, FireInput, HeldWeapon, ProjectileEnd, ProjectileEndKind,
    ProjectileLaunch, ShotRefusal, ShotResult, ShotVerdict, ShooterView, Tracer, TracerPath, WeaponId,
};
use lightyear::{
    connection::ConnectionSystems,
    link::Link,
    prelude::{Connected, LinkSystems},
    transport::plugin::TransportSystems,
};
use unlag_examples::stepped_match::{Match, MatchOptions};

#[allow(dead_code, reason = "the client uses more of it")]
#[path = "../../crates/bevy_unlag_lightyear/src/snapshots/encoding.rs"]
mod message;
#[allow(dead_code, reason = "the property tests use more of it")]
#[path = "../../crates/bevy_unlag_prediction/tests/integration/properties/walker.rs"]
mod walker;

use walker::{Mode, WalkerState, Walker, WalkerInput};

type Soldier = WithWeapons<CapsuleModel>;
type Input = <Soldier as MoveModel>::Input;
type State = <Soldier as MoveModel>::State;

fn encoded(value: &impl Wire) -> Vec<u8> {
    let mut w = BitWriter::default();
    value.write(&mut w);
    w.finish()
}

fn soldier() -> State {
    ExtendedState {
        body: CapsuleState::at(Vec3::new(3.0, 1.5, -20.25)),
        extension: WeaponState::new(&Arsenal::default(), &[WeaponId(0)], 7),
    }
}

fn move_packets() -> Vec<(&'static str, Vec<u8>)> {
    let run = CapsuleInput { forward: 127, yaw: 9_000, pitch: -300, ..default() };
    let turn = CapsuleInput { yaw: run.yaw + 90, pitch: -310, ..run };
    let jump = CapsuleInput { jump: true, right: -80, ..turn };
    let time = ViewTime { tick: Tick(990), fraction: 77 };
    let sight = ShooterView::new(Some(time), Vec3::new(3.0, 3.1, -20.25));
    let fire = FireInput::new(&sight, Tick(1_004)).with_aim(Aim::new(2.0, -0.1), Aim::new(2.01, -0.1));
    let mut claim = fire;
    claim.claim = Some(NetId(700));
    let mut pellets = fire;
    pellets.set_pellets((0..12).map(|k| Vec2::splat(k as f32 / 20.0)));
    let input = |body, fire: Option<FireInput>| Input {
        body,
        extension: WeaponInput { fire, trigger: fire.is_some(), ..WeaponInput::default() },
    };
    let hands = WeaponInput { reload: true, aiming: true, equip: Some(3), ..WeaponInput::default() };
    let packet = |newest: u16, moves: &[(u16, u16, Input)]| {
        let runs =
            moves.iter().map(|(age, length, input)| MoveRun { age: *age, length: *length, input: *input });
        let check = StateCheck::of::<Soldier>(&soldier(), Tick(newest.into()), true);
        encoded(&MovePacket {
            epoch: 3,
            sequence: 200,
            newest,
            ack_bits: Some(240),
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
    let plain = MoveAck::<State, CapsulePush> {
        epoch: 3,
        sequence: 9,
        answered: AckedMove::Move(1_000),
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
    let start = AckedMove::Start { now: Tick(70_000) };
    vec![
        ("acknowledgement", encoded(&plain)),
        ("outcomes", encoded(&MoveAck { outcomes: 0x8005, lag: -7, ..plain.clone() })),
        ("pushes", encoded(&MoveAck { pushes, resolving: true, ..plain.clone() })),
        (
            "start",
            encoded(&MoveAck {
                answered: start,
                adjustment: adjusted(CorrectionCause::Start),
                ..plain.clone()
            }),
        ),
        ("correction", encoded(&MoveAck { adjustment: adjusted(CorrectionCause::Terrain), ..plain })),
    ]
}

/// Returns updates of a runner, of a pawn that has just landed, of one on a lift, and one with unusual
/// values.
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

/// Base tick of the encoded updates.
const BASE: Tick = Tick(1_004);

fn written(update: &ProxyUpdate) -> BitWriter {
    let mut w = BitWriter::default();
    update.write(BASE, &mut w);
    w
}

/// Returns seeds with the base tick first, then the update.
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

/// Returns scripts of `server_mailbox`: the lowest three bits are the operation, the others its amount.
fn mailboxes() -> Vec<(&'static str, Vec<u8>)> {
    let message = |lead: i8, moves: &[(u16, u16)]| {
        let input = WalkerInput { mode: Mode::Walk, towards: Vec3::X };
        let runs = moves.iter().map(|(age, length)| MoveRun { age: *age, length: *length, input });
        let check = StateCheck::of::<Walker>(&WalkerState::default(), Tick(0), false);
        let (epoch, sequence, newest, ack_bits) = (0, 1, 0, Some(0));
        let bytes = encoded(&MovePacket { epoch, sequence, newest, ack_bits, check, runs: runs.collect() });
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

/// Returns messages about shots, each preceded by its kind.
fn effects() -> Vec<(&'static str, Vec<u8>)> {
    let of = |kind: u8, value: &dyn Fn() -> Vec<u8>| [&[kind][..], &value()].concat();
    let (shooter, shot, weapon) = (NetId(7), Tick(1_004), WeaponId(2));
    let list = [(NetId(3), HitGroup::Head), (NetId(9), HitGroup::Limb)].into_iter().collect();
    let verdict = |result| ShotVerdict { shot, result, clamped: false };
    let to = TracerPath::To(Vec3::new(1.5, 2.0, -40.0));
    let cone = SpreadCone { aim: Aim::new(2.0, -0.1), half_angle: 470 };
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
        ("pellets", of(1, &|| encoded(&Tracer { shooter, weapon, trail: TracerPath::Spread { cone, seed: 99 } }))),
        ("launch", of(2, &|| encoded(&launch))),
        ("bounced", of(2, &|| encoded(&ProjectileLaunch { bounces: 2, flown: 700, ..launch }))),
        ("wall", of(3, &|| encoded(&end(ProjectileEndKind::Wall)))),
        ("body", of(3, &|| encoded(&end(hit)))),
        ("held", of(4, &|| encoded(&held))),
    ]
}

/// Traffic received by a server: datagrams as they arrive, and packets decrypted by netcode.
#[derive(Resource, Default)]
struct RecordedTraffic {
    datagrams: Vec<Vec<u8>>,
    packets: Vec<Vec<u8>>,
}

/// Maximum number of seeds of each kind.
const MAX_SEEDS: usize = 8;

/// Stores packets of different lengths, as a simple measure of variety.
fn keep(list: &mut Vec<Vec<u8>>, link: &mut Link) {
    for _ in 0..link.recv.len() {
        let Some(packet) = link.recv.pop() else { break };
        if list.len() < MAX_SEEDS && list.iter().all(|known| known.len() != packet.len()) {
            list.push(packet.to_vec());
        }
        link.recv.push_raw(packet);
    }
}

/// Records the traffic of a short fight, and the evidence of the shortest, the median and the longest shot.
fn fight() -> (RecordedTraffic, Vec<ShotEvidence>) {
    let listen = |server: &mut App| {
        server.init_resource::<RecordedTraffic>().add_systems(
            PreUpdate,
            (
                (|mut links: Query<&mut Link>, mut ack_bits: ResMut<RecordedTraffic>| {
                    links.iter_mut().for_each(|mut link| keep(&mut ack_bits.datagrams, &mut link));
                })
                .after(LinkSystems::Receive)
                .before(ConnectionSystems::Receive),
                (|mut links: Query<&mut Link, With<Connected>>, mut ack_bits: ResMut<RecordedTraffic>| {
                    links.iter_mut().for_each(|mut link| keep(&mut ack_bits.packets, &mut link));
                })
                .after(ConnectionSystems::Receive)
                .before(TransportSystems::Receive),
            ),
        );
        server.init_resource::<EvidenceLog>();
        server.world_mut().resource_mut::<EvidenceLog>().keep(200);
    };
    let options = MatchOptions { players: 2, ..MatchOptions::default() };
    let mut game = Match::start_with(&options, listen).unwrap_or_else(|line| panic!("{line}"));
    game.fight(10.0);
    let world = game.server.world_mut();
    let mut shots: Vec<_> = world.resource_mut::<EvidenceLog>().drain().collect();
    shots.sort_by_key(|shot| shot.to_bytes().len());
    let some = [0, shots.len() / 2, shots.len() - 1].map(|at| shots[at].clone());
    (world.remove_resource::<RecordedTraffic>().unwrap_or_default(), some.to_vec())
}

fn numbered(name: &str, all: impl IntoIterator<Item = Vec<u8>>) -> Vec<(String, Vec<u8>)> {
    all.into_iter().enumerate().map(|(i, bytes)| (format!("{name}_{i}"), bytes)).collect()
}

/// Returns one step of a `packet_gate` script: the time that passes, and a packet.
fn step(time: u8, packet: &[u8]) -> Vec<u8> {
    [&[packet.len() as u8, (packet.len() >> 8) as u8 | time << 3][..], packet].concat()
}

/// Returns scripts of packets for the channels of the probe: a ping, reliable messages in and out of order, a
/// large message in fragments.
fn gates(packets: &[Vec<u8>]) -> Vec<(String, Vec<u8>)> {
    let packet = |kind: u8, body: &[u8]| [&[kind, 0, 7, 0, 6, 255, 255, 255, 255, 0, 0, 1, 2], body].concat();
    let reliable = |id: u8| packet(0, &[1, 1, 1, 0, id, 2, 0, 9]);
    let part = |index: u8, parts: u8, length: usize| {
        let compression: &[u8] = if index == 0 { &[0] } else { &[] };
        let length_bytes = (length as u16 | 0x4000).to_be_bytes();
        let head = [&[1, 0, 5, index, parts][..], compression, &length_bytes].concat();
        packet(1, &[&head[..], &vec![0; length]].concat())
    };
    let play =
        [packet(0, &[0, 2, 0, 3, 0, 9, 9, 0, 2, 0, 1]), packet(0, &[2, 1, 0, 3, 1, 0, 7]), packet(4, &[])];
    let size = lightyear::transport::packet::fragment_size_for_min_mtu(1_200).unwrap_or(1_000);
    let scripts = [
        ("play", play.concat_steps(3)),
        ("reliable", [2, 0, 1, 3, 3, 5].map(reliable).concat_steps(2)),
        ("parts", [part(2, 3, 40), part(0, 3, size), part(1, 3, size)].concat_steps(3)),
        ("flood", vec![packet(0, &[0, 1, 0, 3, 0, 9, 9]); 60].concat_steps(0)),
        ("heard", packets.concat_steps(3)),
    ];
    scripts.into_iter().map(|(name, script)| (name.to_owned(), script)).collect()
}

trait Script {
    /// Concatenates packets into a script with the same time before each.
    fn concat_steps(&self, time: u8) -> Vec<u8>;
}

impl Script for [Vec<u8>] {
    fn concat_steps(&self, time: u8) -> Vec<u8> {
        self.iter().flat_map(|packet| step(time, packet)).collect()
    }
}

/// Returns packets of karts and of a character with abilities, each preceded by its kind.
fn other_models() -> Vec<(&'static str, Vec<u8>)> {
    type Able = CapsuleWith<(Dash, Teleport)>;
    fn of<M: MoveModel>(kind: u8, state: M::State, input: M::Input, push: M::Push) -> [Vec<u8>; 2] {
        let check = StateCheck::of::<M>(&state, Tick(1_000), true);
        let runs = vec![
            MoveRun { age: 0, length: 3, input },
            MoveRun { age: 3, length: 9, input: M::Input::default() },
        ];
        let packet = MovePacket { epoch: 3, sequence: 200, newest: 1_000, ack_bits: Some(240), check, runs };
        let adjustment =
            ClientAdjustment { cause: CorrectionCause::Terrain, config: 7, surroundings: 9, state };
        let answer = MoveAck::<M::State, M::Push> {
            epoch: 3,
            sequence: 9,
            answered: AckedMove::Move(1_000),
            waiting: 2,
            held: Duration::from_micros(31_250),
            lag: 4,
            loss: LossLevel::UNKNOWN,
            resolving: false,
            outcomes: 5,
            pushes: vec![(1_010, push)],
            adjustment: Some(adjustment),
        };
        [[&[kind][..], &encoded(&packet)].concat(), [&[kind + 1][..], &encoded(&answer)].concat()]
    }
    let kart =
        KartState { velocity: Vec3::new(9.0, 0.0, -20.0), grounded: true, ..KartState::at(Vec3::Y, 9_000) };
    let [kart_moves, kart_answer] =
        of::<KartModel>(0, kart, KartInput::new(1.0, -0.4), KartPush::Shove(Vec3::X));
    let able = ExtendedState { body: soldier().body, extension: Default::default() };
    let input =
        ExtendedInput { body: CapsuleInput { forward: 127, ..default() }, extension: Default::default() };
    let [able_moves, able_answer] = of::<Able>(2, able, input, CapsulePush::Shove(Vec3::X));
    vec![
        ("kart_moves", kart_moves),
        ("kart_answer", kart_answer),
        ("able_moves", able_moves),
        ("able_answer", able_answer),
    ]
}

/// Returns scripts of `op_script`: the lowest four bits are the operation, the others its amount.
fn scripts(ack_bits: &RecordedTraffic) -> Vec<(&'static str, Vec<u8>)> {
    let pass = |steps: u8| vec![(steps - 1) << 4];
    let op = |what: u8, much: u8| vec![what | much << 4];
    let datagram = |bytes: &[u8]| [&op(10, 0), &(bytes.len() as u16).to_be_bytes()[..], bytes].concat();
    let packet = |bytes: &[u8]| {
        let much = (bytes.len().saturating_sub(13) / 4).min(15) as u8;
        [&op(11, much), &bytes[..13 + usize::from(much) * 4]].concat()
    };
    let message = |what: u8, channel: u8, kind: u8, body: &[u8]| {
        [&op(what, (body.len() / 2) as u8), &[channel, kind][..], body].concat()
    };
    let long = |bytes: &&Vec<u8>| bytes.len() >= 13 + 16;
    let garbage: Vec<u8> =
        ack_bits.packets.iter().filter(long).take(3).flat_map(|bytes| packet(bytes)).collect();
    let strangers: Vec<u8> = ack_bits.datagrams.iter().take(3).flat_map(|bytes| datagram(bytes)).collect();
    let every: Vec<u8> =
        (0..16).flat_map(|kind| message(13, kind % 12, kind, &[7; 8])).chain(pass(4)).collect();
    vec![
        ("play", [pass(16), pass(16), pass(16)].concat()),
        ("outage", [pass(9), op(4, 15), op(5, 15), pass(16), pass(16), op(15, 0), pass(16)].concat()),
        ("loss", [op(4, 5), op(5, 5), op(6, 5), op(7, 6), pass(16), pass(16)].concat()),
        ("hitch", [pass(9), op(8, 15), pass(16), op(9, 15), pass(16)].concat()),
        ("leave", [pass(9), op(15, 15), pass(9), garbage.clone(), pass(9)].concat()),
        ("garbage", [pass(9), garbage, pass(9)].concat()),
        ("strangers", [pass(9), strangers, pass(9)].concat()),
        ("messages", [pass(4), every, pass(16)].concat()),
    ]
}

/// Returns scripts of `game_message`: the first byte selects server or client; then the lowest three bits are
/// the operation, the others its amount. The target adds each type's key itself: a key depends on the type's
/// path, which would differ here.
fn game_messages() -> Vec<(&'static str, Vec<u8>)> {
    let (server, client): (&[u8], &[u8]) = (&[0], &[1]);
    let (guest, frame) = ([6_u8], |time: u8| [7 | time << 3]);
    let message = |kind: u8, about: Option<u16>, number: u32| {
        let mut w = BitWriter::default();
        w.bool(about.is_some());
        if let Some(id) = about {
            w.golomb(id, 4);
        }
        w.bits(number, 32);
        let bytes = w.finish();
        [&[2 + kind | (bytes.len() as u8) << 3][..], &bytes].concat()
    };
    let say = [message(0, None, 7), message(0, Some(1), 8), message(1, None, 9)].concat();
    let strange = [message(0, Some(2), 1), message(0, Some(9), 1), message(0, None, 1_001)].concat();
    let wrong =
        [message(2, None, 1), message(3, Some(1), 2), vec![0, 1, 8, 255, 1 | 3 << 3, 1, 2, 3]].concat();
    let tell = [message(2, Some(1), 7), message(3, None, 8), message(3, Some(2), 9)].concat();
    let early: Vec<u8> = (0..6).flat_map(|number| message(2, Some(3), number)).collect();
    vec![
        ("say", [server, &say, &frame(0), &say, &frame(1)].concat()),
        ("strange", [server, &strange, &guest, &message(0, Some(3), 1), &frame(0)].concat()),
        ("wrong_way", [server, &wrong, &frame(0)].concat()),
        ("waves", [server, &message(1, None, 3).repeat(60), &frame(0), &message(1, None, 4)].concat()),
        ("tell", [client, &tell, &frame(0), &say, &frame(1)].concat()),
        ("early", [client, &early, &frame(0), &guest, &frame(0), &guest, &early, &frame(3)].concat()),
    ]
}

/// Returns scripts of connection requests, bytes of tokens, and texts of keys, each preceded by its kind.
fn tokens() -> Vec<(&'static str, Vec<u8>)> {
    let key = ServerKey::development();
    let token = |server: &str, data: &[u8]| {
        let server = server.parse().expect("a valid address");
        let request = ConnectTokenRequest::new(5, server, 9);
        let request = ConnectTokenRequest { data: data.to_vec(), ..request };
        let mut token = request.issue(&key).expect("a token can be issued");
        // A far expiry keeps the seed valid; a client cannot verify the time of creation.
        token[29..37].copy_from_slice(&4_102_444_800_u64.to_be_bytes());
        [&[1][..], &token].concat()
    };
    vec![
        // One link joins and another shows the same token; then the first one leaves.
        ("twice", vec![0, 0, 5, 8, 0, 7, 0, 8]),
        ("two", vec![0, 0, 9, 5, 13, 1, 8, 15, 9]),
        ("not_good", vec![0, 2, 3, 10, 11, 1]),
        // Changed bytes of the protocol, the expiry, the nonce, the body and the end of the seal.
        (
            "forged",
            [
                &[0][..],
                &[0x10, 0, 14, 1],
                &[0x10, 0, 29, 1],
                &[0x10, 0, 40, 1],
                &[0x10, 1, 0, 255],
                &[0x11, 4, 53, 1],
            ]
            .concat(),
        ),
        ("junk", vec![0, 4, 0, 3, 1, 2, 3, 4, 0, 0]),
        ("token", token("10.0.0.7:5000", b"team blue")),
        ("address", token("[2001:db8::7]:5001", b"")),
        ("key", [&[2][..], key.to_hex().as_bytes(), b"\n"].concat()),
        ("zero_key", [&[2][..], &[b'0'; 64]].concat()),
    ]
}

/// Returns scripts of `change`: the lowest two bits are the operation, the others its amount.
fn changes() -> Vec<(&'static str, Vec<u8>)> {
    let change = |tick: u32, tilt: f32, kind: u32| {
        let mut w = BitWriter::default();
        Tick(tick).write(&mut w);
        w.f32(tilt);
        w.bits(kind, 3);
        let bytes = w.finish();
        [&[(bytes.len() as u8) << 2][..], &bytes].concat()
    };
    let honest = |much: u8| vec![2 | much << 2];
    let frame = vec![3];
    let junk = vec![1 | 4 << 2, 255, 255, 255, 255];
    let new = [change(9, 0.5, 2), change(8, 0.25, 3), change(10, f32::NAN, 1), change(11, 1.0, 7)].concat();
    vec![
        ("honest", [honest(0), frame.clone(), honest(5), honest(3), frame.clone()].concat()),
        ("newest", [new.clone(), frame.clone(), change(7, 0.75, 1), frame.clone()].concat()),
        ("around", [change(u32::MAX, 1.0, 1), frame.clone(), change(2, 2.0, 2), frame.clone()].concat()),
        ("junk", [junk.clone(), new, frame.clone(), junk, vec![0], frame.clone()].concat()),
        ("flood", [vec![0; 270], change(9, 0.5, 2), frame.clone(), change(9, 0.5, 2), frame].concat()),
    ]
}

fn owned(seeds: Vec<(&str, Vec<u8>)>) -> Vec<(String, Vec<u8>)> {
    seeds.into_iter().map(|(name, bytes)| (name.to_owned(), bytes)).collect()
}

fn main() -> io::Result<()> {
    let (ack_bits, shots) = fight();
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds");
    let targets = [
        ("move_packet", owned(move_packets())),
        ("server_answer", owned(server_answers())),
        ("proxy_update", owned(proxy_updates())),
        ("snapshot_message", owned(snapshot_messages())),
        ("effects", owned(effects())),
        ("server_mailbox", owned(mailboxes())),
        ("other_models", owned(other_models())),
        ("op_script", owned(scripts(&ack_bits))),
        ("packet_gate", gates(&ack_bits.packets)),
        ("datagram", numbered("heard", ack_bits.datagrams)),
        ("words", numbered("word", example_messages().into_iter().map(|(kind, word)| [&[kind][..], &word].concat()))),
        ("game_message", owned(game_messages())),
        ("token", owned(tokens())),
        ("change", owned(changes())),
        ("evidence", numbered("shot", shots.iter().map(ShotEvidence::to_bytes))),
    ];
    for (target, files) in targets {
        let folder = seeds.join(target);
        fs::create_dir_all(&folder)?;
        for (name, bytes) in files {
            fs::write(folder.join(&name), &bytes)?;
            println!("{target}/{name}: {} bytes", bytes.len());
        }
    }
    Ok(())
}
