//! An owner's app and a server's app in one process, stepped manually.

use core::time::Duration;

use bevy::{ecs::component::Mutable, prelude::*, time::TimeUpdateStrategy};
use bevy_unlag::{
    core::{CurrentTick, Tick},
    link_conditioner::LinkConditions,
    movement::{CapsulePush, CapsuleState, MovementPlugin, abilities::TeleportConfig},
    prediction::{
        AuthorityPawn, AutonomousPawn, IncomingMoveAcks, IncomingMoves, MoveTrace, OutgoingMoveAcks,
        OutgoingMoves, PredictionConfig, PredictionPlugin, PredictionStats, ScheduledPushes,
    },
};

use super::{
    DISTANCE, Level, Observations, Pawn, PawnState, SimulatedLink, Variant, Wall, WriteMethod, observations,
    variant::{self, ReceivedRequests, ScriptedInput, UnsentRequests},
};
use crate::app::TICK;
use bevy_unlag_testkit::finish;

/// Ticks by which the server starts earlier than the owner, so that its colliders exist when the owner
/// joins.
const HEAD_START: u32 = 40;

/// Options of a pair.
#[derive(Clone, Copy, Debug)]
pub struct TeleportOptions {
    /// Implementation of the teleport.
    pub variant: Variant,
    /// Method by which code outside the move stream moves the pawn.
    pub write_method: WriteMethod,
    /// Sides on which a wall blocks the destination.
    pub wall: Wall,
    /// Round trip of the link, half of it in each direction, without the wait for the next frame.
    pub rtt: Duration,
    /// Jitter: maximum deviation of a packet's latency.
    pub jitter: Duration,
    /// Share of lost packets in each direction, 0 to 1.
    pub loss: f32,
    /// Seed of all randomness.
    pub seed: u64,
    /// Moves the owner's pawn 0.3 m sideways half a round trip before the key press, so that the server
    /// corrects a move from before the teleport right after it.
    pub force_correction: bool,
    /// Prediction settings of both sides.
    pub prediction: PredictionConfig,
}

impl Default for TeleportOptions {
    fn default() -> Self {
        Self {
            variant: Variant::Stream,
            write_method: WriteMethod::default(),
            wall: Wall::default(),
            rtt: Duration::from_millis(100),
            jitter: Duration::ZERO,
            loss: 0.0,
            seed: 7,
            force_correction: false,
            prediction: PredictionConfig::default(),
        }
    }
}

/// Both apps and the link between them. Both run at 64 frames per second, with one tick per frame.
pub struct ClientServerPair {
    /// The owner's app.
    pub client: App,
    /// The server's app.
    pub server: App,
    /// The pawn in the owner's app.
    pub own: Entity,
    /// The pawn in the server's app.
    pub pawn: Entity,
    /// The link between the apps.
    pub pipe: SimulatedLink,
    now: Duration,
}

impl ClientServerPair {
    /// Creates both apps, up to the owner's first frame.
    #[must_use]
    pub fn start(options: &TeleportOptions) -> Self {
        let mut client = app(options, options.wall == Wall::OnBoth);
        let mut server = app(options, options.wall != Wall::Nowhere);
        variant::add_client(&mut client);
        variant::add_server(&mut server);
        let own = (AutonomousPawn::<Pawn>::default(), MoveTrace::default());
        let own = client.world_mut().spawn(own).id();
        let state = PawnState { body: CapsuleState::at(Vec3::Y * 0.03), ..PawnState::default() };
        let pawn = (AuthorityPawn::<Pawn>::default(), state, MoveTrace::default());
        let pawn = server.world_mut().spawn(pawn).id();
        for app in [&mut client, &mut server] {
            finish(app);
        }
        for _ in 0..HEAD_START {
            server.update();
        }
        let conditions = LinkConditions {
            latency: options.rtt / 2,
            jitter: options.jitter,
            loss: options.loss,
            ..LinkConditions::PERFECT
        };
        Self {
            client,
            server,
            own,
            pawn,
            pipe: SimulatedLink::new(options.seed, conditions),
            now: Duration::ZERO,
        }
    }

    /// Runs whole frames for `time`, at least one.
    pub fn run(&mut self, time: Duration) {
        let end = self.now + time;
        loop {
            self.frame();
            if self.now >= end {
                break;
            }
        }
    }

    /// Runs one frame of the owner, then one of the server.
    pub fn frame(&mut self) {
        self.now += TICK;
        for bytes in self.pipe.arrived_down(self.now) {
            with(&mut self.client, self.own, |mail: &mut IncomingMoveAcks| mail.deliver(bytes));
        }
        self.client.update();
        let moves = with(&mut self.client, self.own, |mail: &mut OutgoingMoves| core::mem::take(&mut mail.0));
        let asked = core::mem::take(&mut self.client.world_mut().resource_mut::<UnsentRequests>().0);
        self.pipe.send_up(self.now, moves, asked);
        let (moves, requests) = self.pipe.arrived_up(self.now);
        for bytes in moves {
            with(&mut self.server, self.pawn, |mail: &mut IncomingMoves| mail.deliver(bytes));
        }
        self.server.world_mut().resource_mut::<ReceivedRequests>().0 += requests;
        self.server.update();
        let answers =
            with(&mut self.server, self.pawn, |mail: &mut OutgoingMoveAcks| core::mem::take(&mut mail.0));
        self.pipe.send_down(self.now, answers);
    }

    /// Presses or releases the teleport key.
    pub fn hold_key(&mut self, down: bool) {
        self.client.world_mut().resource_mut::<ScriptedInput>().key = down;
    }

    /// Sets the movement input to neutral for the rest of the run.
    pub fn release_movement(&mut self) {
        self.client.world_mut().resource_mut::<ScriptedInput>().still = true;
    }

    /// Returns the owner's state of its pawn; `None` before the server's first acknowledgement.
    #[must_use]
    pub fn owner_state(&self) -> Option<PawnState> {
        self.client.world().get(self.own).copied()
    }

    /// Returns the server's state of the pawn.
    #[must_use]
    pub fn server_state(&self) -> Option<PawnState> {
        self.server.world().get(self.pawn).copied()
    }

    /// Returns the owner's prediction counters.
    #[must_use]
    pub fn stats(&self) -> PredictionStats {
        self.client.world().get(self.own).copied().unwrap_or_default()
    }

    /// Returns what the owner observed.
    #[must_use]
    pub fn seen(&self) -> &Observations {
        self.client.world().resource()
    }

    /// Returns the owner's tick.
    #[must_use]
    pub fn owner_tick(&self) -> Tick {
        self.client.world().resource::<CurrentTick>().0
    }

    /// Schedules a push of the pawn on the server, at a tick that the owner is notified of.
    pub fn push(&mut self, push: CapsulePush) {
        with(&mut self.server, self.pawn, |pushes: &mut ScheduledPushes<Pawn>| pushes.push(push));
    }

    /// Changes the pawn on the server between two moves, without a push.
    pub fn write_on_server(&mut self, write: impl FnOnce(&mut CapsuleState)) {
        with(&mut self.server, self.pawn, |state: &mut PawnState| write(&mut state.body));
    }

    /// Changes the pawn in the owner's app, which is an error.
    pub fn write_on_client(&mut self, write: impl FnOnce(&mut CapsuleState)) {
        with(&mut self.client, self.own, |state: &mut PawnState| write(&mut state.body));
    }
}

/// Changes a component of a pawn, if the pawn has it.
fn with<C: Component<Mutability = Mutable>, R: Default>(
    app: &mut App,
    entity: Entity,
    change: impl FnOnce(&mut C) -> R,
) -> R {
    app.world_mut().get_mut(entity).map(|mut part| change(&mut part)).unwrap_or_default()
}

fn app(options: &TeleportOptions, blocked: bool) -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, MovementPlugin, PredictionPlugin::<Pawn>::default()))
        .insert_resource(TimeUpdateStrategy::ManualDuration(TICK))
        .insert_resource(TeleportConfig { distance: DISTANCE, ..TeleportConfig::default() })
        .insert_resource(options.prediction)
        .insert_resource(options.variant)
        .insert_resource(options.write_method);
    observations::watch(&mut app);
    let level = Level::new(blocked);
    level.spawn(app.world_mut());
    app.insert_resource(level);
    app
}
