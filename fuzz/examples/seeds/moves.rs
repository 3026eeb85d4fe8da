//! Seeds of moves, acknowledgements and the server mailbox.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::{ExtendedInput, ExtendedState, MoveModel, NetId, Tick, ViewTime};
use bevy_unlag_movement::{
    CapsuleInput, CapsuleModel, CapsulePush, CapsuleState, CapsuleWith, KartInput, KartModel, KartPush,
    KartState,
    abilities::{Dash, Teleport},
};
use bevy_unlag_prediction::{
    AckedMove, ClientAdjustment, CorrectionCause, LossLevel, MoveAck, MovePacket, MoveRun, RanMoves,
    StateCheck,
};
use bevy_unlag_weapons::{
    Aim, Arsenal, FireInput, ShooterView, WeaponId, WeaponInput, WeaponState, WithWeapons,
};

use crate::{
    encoded,
    walker::{Mode, Walker, WalkerInput, WalkerState},
};

type Soldier = WithWeapons<CapsuleModel>;
type Input = <Soldier as MoveModel>::Input;
type State = <Soldier as MoveModel>::State;

fn soldier() -> State {
    ExtendedState {
        body: CapsuleState::at(Vec3::new(3.0, 1.5, -20.25)),
        extension: WeaponState::new(&Arsenal::default(), &[WeaponId(0)], 7),
    }
}

pub fn move_packets() -> Vec<(&'static str, Vec<u8>)> {
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

pub fn move_acks() -> Vec<(&'static str, Vec<u8>)> {
    let plain = MoveAck::<State, CapsulePush> {
        epoch: 3,
        sequence: 9,
        acked: AckedMove::Move(1_000),
        queued_moves: 2,
        ack_delay: Duration::from_micros(31_250),
        lag: 4,
        delay: 6,
        loss: LossLevel::UNKNOWN,
        resolving: false,
        outcomes: 0,
        ran: RanMoves::Newest { ran: 999, missed: 0b110 },
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
                acked: start,
                adjustment: adjusted(CorrectionCause::InitialState),
                ..plain.clone()
            }),
        ),
        ("correction", encoded(&MoveAck { adjustment: adjusted(CorrectionCause::Terrain), ..plain })),
    ]
}

/// Returns packets of karts and of a character with abilities, each preceded by its kind.
pub fn other_models() -> Vec<(&'static str, Vec<u8>)> {
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
        let ack = MoveAck::<M::State, M::Push> {
            epoch: 3,
            sequence: 9,
            acked: AckedMove::Move(1_000),
            queued_moves: 2,
            ack_delay: Duration::from_micros(31_250),
            lag: 4,
            delay: -3,
            loss: LossLevel::UNKNOWN,
            resolving: false,
            outcomes: 5,
            ran: RanMoves::All,
            pushes: vec![(1_010, push)],
            adjustment: Some(adjustment),
        };
        [[&[kind][..], &encoded(&packet)].concat(), [&[kind + 1][..], &encoded(&ack)].concat()]
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

/// Returns scripts of `server_mailbox`: the lowest three bits are the operation, the others its amount.
pub fn mailboxes() -> Vec<(&'static str, Vec<u8>)> {
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
