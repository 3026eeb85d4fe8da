//! lightyear side of the rollback benchmark: a server and a client with prediction over an in-process link.

use bevy::prelude::*;
use bevy_rapier3d::plugin::PhysicsSet;
use bevy_unlag_core::{CurrentTick, MoveSystems, Tick};
use bevy_unlag_movement::CapsuleState;
use cpu_time::ThreadTime;
use lightyear::{
    crossbeam::CrossbeamIo,
    prelude::{client::ClientPlugins, server::ServerPlugins, *},
};

use crate::{
    CHARACTERS,
    corrections::{Counts, DEPTH, Side},
    netcode,
    protocol::ProtocolPlugin,
    scene::{self, RollbackSteps, TICK, Walker, shove, states, step_walkers},
};

/// Frames until all characters are replicated and the clocks are synchronised.
const WARM_UP: usize = 400;

/// Server with all characters, and client that predicts some of them.
pub struct LightyearSide {
    client: App,
    server: App,
    /// Predicted characters on the client and on the server, in the same order.
    characters: [Vec<Entity>; 2],
}

impl LightyearSide {
    /// Connects client and server and shifts the client's clock such that a correction is [`DEPTH`] ticks
    /// old.
    ///
    /// # Errors
    /// Returns a message if client and server do not synchronise.
    pub fn new(predicted: usize) -> Result<Self, String> {
        let (mut server, mut client) = (server_app(), client_app());
        let predicted = spawn_characters(&mut server, predicted);
        let (client_io, server_io) = CrossbeamIo::new_pair();
        let listener = netcode::listen(&mut server);
        netcode::connect((&mut server, listener), &mut client, 1, [server_io, client_io])?;
        let mut side = Self { client, server, characters: [Vec::new(), predicted] };
        side.warm_up()?;
        // A client's clock runs ahead by the length of its link, which is very short here: shift it further,
        // with the event that lightyear itself uses when clocks disagree. A delay in the link would have the
        // same effect, but at a cost that no game has: frames run faster than real time here, by which
        // lightyear measures the round trip, so lightyear would resend everything.
        let delta = DEPTH as i32 - side.depth()?;
        side.client.world_mut().trigger(LocalTimelineShift { delta });
        side.client.world_mut().flush();
        side.warm_up()?;
        match side.depth()? {
            depth if depth == DEPTH as i32 => Ok(side),
            depth => Err(format!("lightyear: a correction would go {depth} ticks back")),
        }
    }

    fn warm_up(&mut self) -> Result<(), String> {
        for _ in 0..WARM_UP {
            self.frame();
        }
        let mut walkers =
            self.client.world_mut().query::<(Entity, &Walker, Has<Predicted>, Has<CapsuleState>)>();
        let found: Vec<_> = walkers.iter(self.client.world()).collect();
        let mut predicted: Vec<_> =
            found.iter().filter(|(.., predicted, state)| *predicted && *state).collect();
        predicted.sort_unstable_by_key(|(_, walker, ..)| walker.0);
        if (found.len(), predicted.len()) != (CHARACTERS, self.predicted()) {
            let predicted = predicted.len();
            return Err(format!(
                "lightyear: {} characters were replicated, {predicted} predicted",
                found.len()
            ));
        }
        self.characters[0] = predicted.iter().map(|(entity, ..)| *entity).collect();
        Ok(())
    }

    /// Returns the age of the newest confirmed state in ticks when lightyear checked it.
    fn depth(&self) -> Result<i32, String> {
        let world = self.client.world();
        let confirmed = world.resource::<StateRollbackMetadata>().last_processed_confirmed_tick();
        let confirmed = confirmed.ok_or("lightyear: no state was confirmed")?;
        // The tick of this frame came after the check.
        Ok(world.resource::<LocalTimeline>().tick() - confirmed - 1)
    }
}

impl Side for LightyearSide {
    fn name(&self) -> String {
        format!("lightyear with {} predicted", self.predicted())
    }

    fn frame(&mut self) -> f64 {
        let start = ThreadTime::now();
        self.client.update();
        let micros = start.elapsed().as_secs_f64() * 1e6;
        self.server.update();
        micros
    }

    fn shove(&mut self, to: Vec3) {
        shove(&mut self.server, self.characters[1][0], to);
    }

    fn client_states(&self) -> Vec<CapsuleState> {
        states(&self.client, &self.characters[0])
    }

    fn server_states(&self) -> Vec<CapsuleState> {
        states(&self.server, &self.characters[1])
    }

    fn counts(&self) -> Counts {
        let metrics = self.client.world().resource::<PredictionMetrics>();
        Counts {
            corrections: u64::from(metrics.rollbacks),
            ticks: u64::from(metrics.rollback_ticks),
            steps: self.client.world().resource::<RollbackSteps>().0,
        }
    }

    fn predicted(&self) -> usize {
        self.characters[1].len()
    }
}

/// Keeps the scene's tick equal to lightyear's, also during rollback.
fn follow_timeline(timeline: Res<LocalTimeline>, mut tick: ResMut<CurrentTick>) {
    tick.0 = Tick(timeline.tick().0);
}

fn server_app() -> App {
    let mut app = scene::app();
    app.add_plugins((ServerPlugins { tick_duration: TICK }, ProtocolPlugin))
        .add_systems(FixedPreUpdate, follow_timeline)
        .add_systems(FixedUpdate, step_walkers::<()>.in_set(MoveSystems::Step));
    scene::finish_plugins(&mut app);
    app
}

fn client_app() -> App {
    let mut app = scene::app();
    // After the initial synchronisation the clocks run at the same speed: one tick per frame in both apps.
    let sync = SyncConfig { speedup_factor: 1.0, max_error_margin: 1.0e9, ..default() };
    app.add_plugins((ClientPlugins { tick_duration: TICK }, ProtocolPlugin))
        .insert_resource(PredictionManager::default())
        .insert_resource(InputTimelineConfig::default().with_sync_config(sync))
        .add_systems(FixedPreUpdate, follow_timeline)
        .add_systems(FixedUpdate, step_walkers::<With<Predicted>>.in_set(MoveSystems::Step))
        // The level is static, so rapier has nothing to do in a rollback.
        .configure_sets(
            FixedUpdate,
            (PhysicsSet::SyncBackend, PhysicsSet::StepSimulation, PhysicsSet::Writeback)
                .run_if(not(is_in_rollback)),
        );
    scene::finish_plugins(&mut app);
    app
}

/// Spawns the characters on the server. Returns the predicted ones.
fn spawn_characters(server: &mut App, predicted: usize) -> Vec<Entity> {
    let characters = (0..CHARACTERS).map(|i| {
        let walker = Walker(i as u16);
        let to_all = Replicate::to_clients(NetworkTarget::All);
        let mut character = server.world_mut().spawn((walker, scene::start(walker), to_all));
        if i < predicted {
            character.insert(PredictionTarget::to_clients(NetworkTarget::All));
        }
        character.id()
    });
    let mut characters: Vec<_> = characters.collect();
    characters.truncate(predicted);
    characters
}
