//! Switch of the own pawn on a client: an offered pawn is taken over at its first move, and the previous one is
//! given back.

use bevy::{ecs::system::StaticSystemParam, prelude::*};
use bevy_unlag_core::{
    CurrentTick, DrawnPose, LastReceivedSnapshot, LocalControl, MoveInput, MoveModel, NetRole, PawnModel,
    ServerLeft, StepContext, Tick, VisualOffset, Wire,
};

use crate::{
    clock_steering::ClockSteering,
    config::{PredictionConfig, ticks},
    control_offer::{ControlOffer, OfferedMoves},
    mailbox::{IncomingControlOffers, IncomingMoveAcks, OutgoingMoves},
    pawn::AutonomousPawn,
    redundancy,
    saved_moves::{SavedMove, SavedMoves},
    scheduled_pushes::ScheduledPushes,
    stats::PredictionStats,
};

/// Maximum number of moves that are simulated when a pawn is taken over. The server would have given up an
/// older offer.
const MAX_MOVES: i32 = 512;
/// Seconds for which the last moves of a previous pawn are sent again, every second tick: nothing acknowledges
/// them.
const RESEND_SECONDS: f32 = 0.25;

/// Tick of the newest change of the own pawn: earlier offers that arrive late are ignored.
#[derive(Resource, Default)]
pub(crate) struct LastSwitch(Option<Tick>);

/// Tick from which this client controls no pawn, as announced by the server.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Default, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct ControlEnd(Option<Tick>);

impl ControlEnd {
    /// Ends the control over the own pawn: the move of `tick` and later ones do not belong to it. `None`: at
    /// once.
    pub fn announce(&mut self, tick: Option<Tick>, now: Tick) {
        self.0 = Some(tick.unwrap_or(now));
    }
}

/// A pawn that this client controlled, and whose last moves are sent again.
#[derive(Component)]
pub(crate) struct FormerPawn {
    ticks: u32,
    /// Newest snapshot when control ended. Shots of the last moves are validated with it.
    last_received: LastReceivedSnapshot,
}

/// Takes over a pawn whose offer is due.
pub(crate) fn take_over<M: MoveModel>(
    (config, model): (Res<PredictionConfig>, Res<M::Config>),
    fixed: Res<Time<Fixed>>,
    world: StaticSystemParam<M::World>,
    mut tick: ResMut<CurrentTick>,
    (mut last, mut steering): (ResMut<LastSwitch>, ResMut<ClockSteering>),
    mut offered: Query<(
        Entity,
        &PawnModel,
        &mut IncomingControlOffers,
        Option<&DrawnPose>,
        Option<&SavedMoves<M>>,
    )>,
    own: Query<Entity, With<LocalControl>>,
    mut commands: Commands,
) {
    for (entity, _, mut incoming, drawn, known) in offered.iter_mut().filter(|(_, model, ..)| model.is::<M>())
    {
        let Some((bytes, offer)) = newest::<M>(&mut incoming, last.0) else { continue };
        // A pawn can be the own one already when it appears, but waits for the server's tick count.
        if own.contains(entity) && known.is_some_and(|known| known.epoch.is_some()) {
            continue;
        }
        if offer.from().is_newer_than(tick.0) && matches!(offer.moves, OfferedMoves::Continue { .. }) {
            incoming.deliver(bytes);
            continue;
        }
        let mut saved = SavedMoves::<M>::default();
        let mut state = offer.state;
        match offer.moves {
            OfferedMoves::Restart { now } => {
                saved.restart(offer.epoch, now);
                tick.0 = now;
                steering.restart();
            }
            OfferedMoves::Continue { last, first } => {
                saved.restart(offer.epoch, first.offset(-1));
                let neutral = M::missing_input(&offer.input, false);
                for ago in (1..tick.0.since(last).clamp(0, MAX_MOVES)).rev() {
                    let at = tick.0.offset(-ago);
                    let dt = fixed.timestep().as_secs_f32();
                    let ctx = StepContext { tick: at, dt, entity, replaying: true };
                    let start = state;
                    state = M::step(&model, &start, &neutral, &ctx, &world, &mut Vec::new());
                    if !first.is_newer_than(at.offset(1)) {
                        state = M::change_control(&state);
                    }
                    if !first.is_newer_than(at) {
                        saved.push(SavedMove {
                            tick: at,
                            input: neutral,
                            start,
                            result: state,
                            sent_at: None,
                            missing_input: true,
                            outcomes: Vec::new(),
                        });
                    }
                }
            }
        }
        last.0 = Some(offer.from());
        for former in own.iter().filter(|former| *former != entity) {
            commands.entity(former).remove::<LocalControl>();
        }
        let offset = drawn.map_or(Vec3::ZERO, |drawn| drawn.pose.position - M::position(&state));
        let offset = if offset.length() > config.snap_distance { Vec3::ZERO } else { offset };
        commands
            .entity(entity)
            .remove::<(IncomingControlOffers, FormerPawn)>()
            .insert((AutonomousPawn::<M>::default(), NetRole::AutonomousProxy, saved, state))
            .insert(VisualOffset { offset, ..default() });
    }
}

/// Returns the newest valid offer that follows the last switch, with its bytes.
fn newest<M: MoveModel>(
    incoming: &mut IncomingControlOffers,
    last: Option<Tick>,
) -> Option<(Vec<u8>, ControlOffer<M::Input, M::State>)> {
    let mut newest: Option<(Vec<u8>, ControlOffer<M::Input, M::State>)> = None;
    for bytes in incoming.drain() {
        let Ok(offer) = ControlOffer::<M::Input, M::State>::from_bytes(&bytes) else { continue };
        let follows = last.is_none_or(|last| offer.from().is_newer_than(last));
        let is_late = newest.as_ref().is_some_and(|(_, newest)| newest.from().is_newer_than(offer.from()));
        // The last of equal ones has the newest state.
        if follows && !is_late {
            newest = Some((bytes, offer));
        }
    }
    newest
}

/// Ends the control over the own pawn when the announced tick is reached.
pub(crate) fn end_control(
    tick: Res<CurrentTick>,
    mut end: ResMut<ControlEnd>,
    mut last: ResMut<LastSwitch>,
    own: Query<Entity, With<LocalControl>>,
    mut commands: Commands,
) {
    let Some(first) = end.0.filter(|first| !first.is_newer_than(tick.0)) else { return };
    end.0 = None;
    if last.0.is_some_and(|last| last.is_newer_than(first)) {
        return;
    }
    last.0 = Some(first);
    for pawn in &own {
        commands.entity(pawn).remove::<LocalControl>();
    }
}

/// Makes a pawn that lost [`LocalControl`] a simulated proxy.
pub(crate) fn release<M: MoveModel>(
    lost: On<Remove, LocalControl>,
    pawns: Query<(), With<AutonomousPawn<M>>>,
    last_received: Res<LastReceivedSnapshot>,
    mut commands: Commands,
) {
    if pawns.contains(lost.entity) {
        let former = FormerPawn { ticks: 0, last_received: *last_received };
        commands
            .entity(lost.entity)
            .try_remove::<(AutonomousPawn<M>, M::State, MoveInput<M>, ScheduledPushes<M>, IncomingMoveAcks)>()
            .try_insert((NetRole::SimulatedProxy, VisualOffset::default(), former));
    }
}

/// Sends the last moves of former pawns again.
pub(crate) fn resend_last_moves<M: MoveModel>(
    fixed: Res<Time<Fixed>>,
    mut pawns: Query<
        (Entity, &mut FormerPawn, &mut SavedMoves<M>, &mut OutgoingMoves, &mut PredictionStats),
        Without<LocalControl>,
    >,
    mut commands: Commands,
) {
    let resends = ticks(RESEND_SECONDS, fixed.timestep().as_secs_f32()).cast_unsigned();
    for (entity, mut former, mut saved, mut outgoing, mut stats) in &mut pawns {
        former.ticks += 1;
        if former.ticks.is_multiple_of(2)
            && let Some(bytes) = redundancy::last_packet(&mut saved, former.last_received)
        {
            stats.packets += 1;
            outgoing.0.push(bytes);
        }
        if former.ticks > resends {
            commands.entity(entity).remove::<(FormerPawn, SavedMoves<M>)>();
        }
    }
}

/// The next server counts its own ticks.
pub(crate) fn reset_switches(_: On<ServerLeft>, mut last: ResMut<LastSwitch>, mut end: ResMut<ControlEnd>) {
    last.0 = None;
    end.0 = None;
}
