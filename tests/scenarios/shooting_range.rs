//! Soldiers that stand still on a level of a test's own and fire on command.

use core::{
    ops::{Deref, DerefMut},
    time::Duration,
};

use bevy::prelude::*;
use bevy_unlag::{
    link_conditioner::LinkConditions,
    prelude::*,
    weapons::{ProjectileDisappeared, ProjectileEnd, ProjectileLaunch, Tracer},
};
use bevy_unlag_testkit::{SteppedApps, headless_app};

use crate::seconds;

/// Messages about shots that an app has seen.
#[derive(Resource, Default)]
pub struct ShotLog {
    pub fired: Vec<ShotFired>,
    pub verdicts: Vec<ShotVerdict>,
    pub damage: Vec<Damage>,
    pub tracers: Vec<Tracer>,
    pub launches: Vec<ProjectileLaunch>,
    /// Ends by the word of the server.
    pub ends: Vec<ProjectileEnd>,
    /// Ends as the screen showed them.
    pub shown_ends: Vec<ProjectileDisappeared>,
}

fn record_shots(
    mut log: ResMut<ShotLog>,
    mut fired: MessageReader<ShotFired>,
    mut verdicts: MessageReader<ShotVerdict>,
    mut damage: MessageReader<Damage>,
    mut tracers: MessageReader<Tracer>,
    mut launches: MessageReader<ProjectileLaunch>,
    (mut ends, mut shown): (MessageReader<ProjectileEnd>, MessageReader<ProjectileDisappeared>),
) {
    log.fired.extend(fired.read().cloned());
    log.verdicts.extend(verdicts.read());
    log.damage.extend(damage.read());
    log.tracers.extend(tracers.read());
    log.launches.extend(launches.read());
    log.ends.extend(ends.read());
    log.shown_ends.extend(shown.read());
}

/// Places of the players' pawns, in the order in which they join.
#[derive(Resource)]
struct Places(Vec<Vec3>);

fn spawn_pawn(joined: On<PlayerJoined>, places: Res<Places>, mut number: Local<u16>, mut commands: Commands) {
    let place = Transform::from_translation(places.0[usize::from(*number)]);
    *number += 1;
    commands.spawn((SoldierPawn, NetId(*number), place, player_pawn(joined.link, joined.peer)));
}

/// A server and clients whose pawns stand still. Client `i` controls the pawn `NetId(i + 1)`.
pub struct ShootingRange {
    game: SteppedApps,
    prepare: fn(&mut App),
}

impl Deref for ShootingRange {
    type Target = SteppedApps;

    fn deref(&self) -> &SteppedApps {
        &self.game
    }
}

impl DerefMut for ShootingRange {
    fn deref_mut(&mut self) -> &mut SteppedApps {
        &mut self.game
    }
}

impl ShootingRange {
    /// Starts a server with a place for each player, of whom the first `players` join. `prepare` adds level and
    /// settings to every app.
    pub fn start(prepare: fn(&mut App), places: &[Vec3], players: usize) -> Self {
        let mut server = headless_app();
        server
            .add_plugins(UnlagServerPlugins::default())
            .insert_resource(Places(places.to_vec()))
            .init_resource::<ShotLog>()
            .add_systems(Last, record_shots)
            .add_observer(spawn_pawn);
        prepare(&mut server);
        let mut range = Self { game: SteppedApps::new(server), prepare };
        (0..players).for_each(|_| range.join());
        range.run(seconds(1.5));
        range
    }

    /// Joins one more player and waits for its pawn.
    pub fn join(&mut self) {
        let mut client = headless_app();
        client
            .add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default()))
            .init_resource::<ShotLog>()
            .add_systems(Last, record_shots);
        (self.prepare)(&mut client);
        let conditions = LinkConditions { latency: Duration::from_millis(40), ..LinkConditions::PERFECT };
        let sim = NetSim::new(self.game.clients.len() as u64).with(conditions);
        let index = self.game.join_over(client, sim).expect("a connect token");
        let joined = self.game.run_until(seconds(10.0), |game| {
            let world = game.clients[index].world_mut();
            world.query_filtered::<(), (With<LocalControl>, With<SoldierState>)>().iter(world).count() == 1
        });
        assert!(joined, "client {index} has no pawn");
    }

    /// Simulated state of a client's own pawn.
    pub fn own_state(&mut self, client: usize) -> SoldierState {
        let world = self.game.clients[client].world_mut();
        let mut own = world.query_filtered::<&SoldierState, With<LocalControl>>();
        *own.single(world).expect("the client has a pawn")
    }

    /// Position of a client's own eye.
    pub fn eye(&mut self, client: usize) -> Vec3 {
        let state = self.own_state(client);
        Soldier::eye(self.game.clients[client].world().resource::<CapsuleConfig>(), &state)
    }

    /// Aims along a direction in the view frame of the client's pawn, and fires once.
    pub fn fire(&mut self, client: usize, direction: Vec3) {
        self.control(client, |view, _| view.look_along(direction));
        // A turn decays at a full turn per second.
        self.run(seconds(1.0));
        self.control(client, |_, trigger| trigger.set_fire(true));
        self.run(seconds(0.03));
        self.control(client, |_, trigger| trigger.set_fire(false));
        self.run(seconds(1.0));
    }

    fn control(&mut self, client: usize, change: impl Fn(&mut InputAccumulator, &mut WeaponControls)) {
        let world = self.game.clients[client].world_mut();
        let mut own =
            world.query_filtered::<(&mut InputAccumulator, &mut WeaponControls), With<LocalControl>>();
        let (mut view, mut trigger) = own.single_mut(world).expect("the client has a pawn");
        change(&mut view, &mut trigger);
    }

    /// Takes the messages that an app has seen since the last call.
    pub fn take_log(app: &mut App) -> ShotLog {
        core::mem::take(&mut *app.world_mut().resource_mut::<ShotLog>())
    }
}

/// The pawn with this id.
pub fn pawn(app: &mut App, id: NetId) -> Entity {
    let world = app.world_mut();
    let mut pawns = world.query::<(Entity, &NetId)>();
    let found = pawns.iter(world).find(|(_, other)| **other == id).map(|(pawn, _)| pawn);
    found.unwrap_or_else(|| panic!("there is no {id:?}"))
}
