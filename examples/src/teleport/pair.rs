//! An owner's app and a server's app in one process, stepped by hand.

use core::time::Duration;

use bevy::{ecs::component::Mutable, prelude::*, time::TimeUpdateStrategy};
use bevy_unlag::{
    core::{CurrentTick, NetRole},
    movement::{CapsulePush, CapsuleState, MovementPlugin, abilities::TeleportConfig},
    prediction::{
        IncomingAnswers, IncomingMoves, MoveTrace, OutgoingAnswers, OutgoingMoves, PredictionConfig,
        PredictionPlugin, PredictionStats, ScheduledPushes, authority_pawn, autonomous_pawn,
    },
    prelude::{LinkConditions, Tick},
};

use super::{
    DISTANCE, Level, Pawn, PawnState, Pipe, Seen, Variant, Wall, Writes, seen,
    variant::{self, Asked, Hands, Requested},
};
use crate::app::{TICK, finish};

/// Ticks that the server is ahead of an owner who joins, so that colliders are there.
const HEAD_START: u32 = 40;

/// What a pair is like.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How the teleport is done.
    pub variant: Variant,
    /// How code beside the move stream puts the pawn ahead.
    pub writes: Writes,
    /// Who has a wall where the teleport leads.
    pub wall: Wall,
    /// The round trip without frames of waiting; half of it each way.
    pub rtt: Duration,
    /// How much earlier or later each packet may come.
    pub jitter: Duration,
    /// The share of packets that are lost, 0 to 1, each way.
    pub loss: f32,
    /// All luck comes from it.
    pub seed: u64,
    /// The owner's pawn is put 0.3 m aside half a round trip before the key, which the server
    /// corrects right after it: a correction of a move from before the teleport.
    pub force_correction: bool,
    /// The tuning of both sides.
    pub prediction: PredictionConfig,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            variant: Variant::Stream,
            writes: Writes::default(),
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

/// Both apps and the pipe between them. Both run 64 frames a second, a tick each.
pub struct Pair {
    /// The owner's.
    pub client: App,
    /// The server's.
    pub server: App,
    /// The pawn in the owner's app.
    pub own: Entity,
    /// The pawn in the server's.
    pub pawn: Entity,
    /// What is between them.
    pub pipe: Pipe,
    now: Duration,
}

impl Pair {
    /// Both apps, from the owner's first frame.
    #[must_use]
    pub fn start(options: &Options) -> Self {
        let mut client = app(options, options.wall == Wall::OnBoth);
        let mut server = app(options, options.wall != Wall::Nowhere);
        variant::add_client(&mut client);
        variant::add_server(&mut server);
        let own = (NetRole::AutonomousProxy, autonomous_pawn::<Pawn>(), MoveTrace::default());
        let own = client.world_mut().spawn(own).id();
        let state = PawnState { body: CapsuleState::at(Vec3::Y * 0.03), ..PawnState::default() };
        let pawn = (NetRole::Authority, authority_pawn::<Pawn>(state), MoveTrace::default());
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
        Self { client, server, own, pawn, pipe: Pipe::new(options.seed, conditions), now: Duration::ZERO }
    }

    /// Lets whole frames pass, at least one.
    pub fn run(&mut self, time: Duration) {
        let end = self.now + time;
        loop {
            self.frame();
            if self.now >= end {
                break;
            }
        }
    }

    /// One frame of the owner, then one of the server.
    pub fn frame(&mut self) {
        self.now += TICK;
        for bytes in self.pipe.arrived_down(self.now) {
            with(&mut self.client, self.own, |mail: &mut IncomingAnswers| mail.deliver(bytes));
        }
        self.client.update();
        let moves = with(&mut self.client, self.own, |mail: &mut OutgoingMoves| core::mem::take(&mut mail.0));
        let asked = core::mem::take(&mut self.client.world_mut().resource_mut::<Asked>().0);
        self.pipe.send_up(self.now, moves, asked);
        let (moves, requests) = self.pipe.arrived_up(self.now);
        for bytes in moves {
            with(&mut self.server, self.pawn, |mail: &mut IncomingMoves| mail.deliver(bytes));
        }
        self.server.world_mut().resource_mut::<Requested>().0 += requests;
        self.server.update();
        let answers =
            with(&mut self.server, self.pawn, |mail: &mut OutgoingAnswers| core::mem::take(&mut mail.0));
        self.pipe.send_down(self.now, answers);
    }

    /// Presses the teleport key, or lets it go.
    pub fn hold_key(&mut self, down: bool) {
        self.client.world_mut().resource_mut::<Hands>().key = down;
    }

    /// Lets go of the stick for good.
    pub fn stand_still(&mut self) {
        self.client.world_mut().resource_mut::<Hands>().still = true;
    }

    /// The owner's state of its pawn; none before the server's first answer.
    #[must_use]
    pub fn owner_state(&self) -> Option<PawnState> {
        self.client.world().get(self.own).copied()
    }

    /// The server's.
    #[must_use]
    pub fn server_state(&self) -> Option<PawnState> {
        self.server.world().get(self.pawn).copied()
    }

    /// The owner's counters.
    #[must_use]
    pub fn stats(&self) -> PredictionStats {
        self.client.world().get(self.own).copied().unwrap_or_default()
    }

    /// What the owner saw.
    #[must_use]
    pub fn seen(&self) -> &Seen {
        self.client.world().resource()
    }

    /// The owner's tick.
    #[must_use]
    pub fn owner_tick(&self) -> Tick {
        self.client.world().resource::<CurrentTick>().0
    }

    /// The server pushes its pawn at a tick that the owner is told of.
    pub fn push(&mut self, push: CapsulePush) {
        with(&mut self.server, self.pawn, |pushes: &mut ScheduledPushes<Pawn>| pushes.push(push));
    }

    /// The server changes its pawn between two moves, in no push.
    pub fn write_on_server(&mut self, write: impl FnOnce(&mut CapsuleState)) {
        with(&mut self.server, self.pawn, |state: &mut PawnState| write(&mut state.body));
    }

    /// The owner's app does, which is an error.
    pub fn write_on_client(&mut self, write: impl FnOnce(&mut CapsuleState)) {
        with(&mut self.client, self.own, |state: &mut PawnState| write(&mut state.body));
    }
}

/// Does something to a part of a pawn, if the pawn has it.
fn with<C: Component<Mutability = Mutable>, R: Default>(
    app: &mut App,
    entity: Entity,
    change: impl FnOnce(&mut C) -> R,
) -> R {
    app.world_mut().get_mut(entity).map(|mut part| change(&mut part)).unwrap_or_default()
}

fn app(options: &Options, blocked: bool) -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, MovementPlugin::default(), PredictionPlugin::<Pawn>::default()))
        .insert_resource(TimeUpdateStrategy::ManualDuration(TICK))
        .insert_resource(TeleportConfig { distance: DISTANCE, ..TeleportConfig::default() })
        .insert_resource(options.prediction)
        .insert_resource(options.variant)
        .insert_resource(options.writes);
    seen::watch(&mut app);
    let level = Level::new(blocked);
    level.spawn(app.world_mut());
    app.insert_resource(level);
    app
}
