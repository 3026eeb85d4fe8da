//! Predicted values: components that their owner changes at once and the server confirms or refuses.

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_unlag::{
    core::{Interpolate, InterpolationSpan, Tick, Wire},
    link_conditioner::LinkConditions,
    net::{Bandwidth, MessageClass, NetSystems, ReplicatePredicted, ReplicateSmoothed, ValueRequest},
    prediction::PredictedValue,
    prelude::*,
    smoothing::ComponentInbox,
};
use lightyear::prelude::ControlledBy;
use unlag_examples::{
    app::{self, ServerOptions, TICK},
    connection,
};

use crate::{hold_still, own_id};

/// A predicted test component. The server refuses [`CROWN`].
#[derive(Component, Clone, Copy, PartialEq, Debug, Wire)]
struct Hat(#[wire(bits = 3)] u8);

impl Interpolate for Hat {
    fn interpolate(from: &Self, _: &Self, _: &InterpolationSpan) -> Self {
        *from
    }
}

/// The value that the server refuses.
const CROWN: Hat = Hat(7);

fn refuse_crown(mut hats: Query<&mut ValueRequest<Hat>>) {
    for mut hat in &mut hats {
        if hat.requested() == Some(CROWN) {
            hat.refuse();
        }
    }
}

struct TestMatch {
    server: App,
    clients: Vec<App>,
    /// The pawn of the first client, or of the host.
    id: NetId,
}

impl TestMatch {
    /// Inserts a hat after each pawn has spawned.
    fn new(host: bool) -> Self {
        Self::with(host, |server| {
            server.add_observer(|added: On<Add, NetId>, mut commands: Commands| {
                commands.entity(added.entity).insert(Hat(0));
            });
        })
    }

    /// Starts two clients at a round trip of about 300 ms with 10 % loss.
    fn with(host: bool, give_hats: fn(&mut App)) -> Self {
        let mut server = app::server(ServerOptions::default());
        if host {
            app::add_scripted_host(&mut server, 1);
        }
        server.replicate_predicted::<Hat>();
        server.add_systems(PreUpdate, refuse_crown.in_set(NetSystems::ValidateRequests));
        server.insert_resource(TimeUpdateStrategy::ManualDuration(TICK));
        give_hats(&mut server);
        let listener = connection::listen_in_process(&mut server);
        bevy_unlag_testkit::finish(&mut server);
        let conditions =
            LinkConditions { latency: TICK * 9, jitter: TICK, loss: 0.1, ..LinkConditions::PERFECT };
        let mut clients = Vec::new();
        for i in 1..=2 {
            let mut client = app::scripted_client(i, ServerOptions::default());
            client.replicate_predicted::<Hat>();
            // Three frames per tick.
            client.insert_resource(TimeUpdateStrategy::ManualDuration(TICK / 3));
            connection::join(&mut server, listener, &mut client, i, NetSim::new(90 + i).with(conditions))
                .expect("the client joins");
            bevy_unlag_testkit::finish(&mut client);
            clients.push(client);
        }
        let mut game = Self { server, clients, id: NetId(0) };
        game.run(300);
        for app in &mut game.clients {
            hold_still(app);
        }
        game.id = own_id(if host { &mut game.server } else { &mut game.clients[0] });
        game
    }

    fn frame(&mut self, step: u32) {
        if step.is_multiple_of(3) {
            self.server.update();
        }
        self.clients.iter_mut().for_each(App::update);
    }

    fn run(&mut self, ticks: u32) {
        (0..ticks * 3).for_each(|step| self.frame(step));
    }
}

fn hat(app: &mut App, id: NetId) -> Option<Hat> {
    let world = app.world_mut();
    world.query::<(&NetId, &Hat)>().iter(world).find(|(other, _)| **other == id).map(|(_, hat)| *hat)
}

/// Changes the local player's value.
fn set_hat(app: &mut App, hat: Hat) {
    let world = app.world_mut();
    let now = world.resource::<CurrentTick>().0;
    let mut own = world.query_filtered::<&mut PredictedValue<Hat>, With<LocalControl>>();
    own.single_mut(world).expect("the local pawn has a predicted value").set_local(hat, now);
}

#[test]
fn predicted_value_never_flickers_and_reverts_once_when_refused() {
    let mut game = TestMatch::new(false);
    let (id, mut wanted, mut wrong, mut others) = (game.id, Hat(0), 0u32, Vec::new());
    for step in 0..3_000u32 {
        // Several changes per tick and per round trip.
        if step % 97 < 12 && step % 2 == 0 || step % 41 == 0 {
            wanted = Hat((step / 2 % 6) as u8);
            set_hat(&mut game.clients[0], wanted);
        }
        game.frame(step);
        assert_eq!(hat(&mut game.clients[0], id), Some(wanted), "frame {step}");
        wrong += u32::from(hat(&mut game.server, id) != Some(wanted));
        others.extend(hat(&mut game.clients[1], id));
    }
    assert!(wrong > 1_000, "the server's value differs in only {wrong} frames: the test shows nothing");
    others.dedup();
    assert!(others.len() > 25, "the other client saw only {} changes", others.len());
    game.run(200);
    for app in game.clients.iter_mut().chain([&mut game.server]) {
        assert_eq!(hat(app, id), Some(wanted));
    }

    set_hat(&mut game.clients[0], CROWN);
    let mut seen = Vec::new();
    for step in 0..600 {
        game.frame(step);
        seen.extend(hat(&mut game.clients[0], id));
        assert_eq!(hat(&mut game.server, id), Some(wanted), "the server must refuse the value");
        assert_eq!(hat(&mut game.clients[1], id), Some(wanted), "other clients must not see a refused value");
    }
    seen.dedup();
    assert_eq!(seen, [CROWN, wanted], "the value must revert once");

    // The server's own change is applied.
    let world = game.server.world_mut();
    for mut hat in world.query::<&mut Hat>().iter_mut(world) {
        *hat = CROWN;
    }
    game.run(200);
    for app in &mut game.clients {
        assert_eq!(hat(app, id), Some(CROWN));
    }
}

#[test]
fn client_can_change_only_its_own_predicted_value() {
    let mut game = TestMatch::new(false);
    let other = own_id(&mut game.clients[1]);
    let world = game.clients[0].world_mut();
    let mut pawns = world.query_filtered::<Entity, (With<Hat>, Without<LocalControl>)>();
    let theirs: Vec<_> = pawns.iter(world).collect();
    for pawn in theirs {
        let mut value = PredictedValue::new(Hat(0));
        value.set_local(Hat(3), Tick(1));
        world.entity_mut(pawn).insert(value);
    }
    set_hat(&mut game.clients[0], Hat(2));
    game.run(200);
    assert_eq!(hat(&mut game.server, game.id), Some(Hat(2)));
    assert_eq!(hat(&mut game.server, other), Some(Hat(0)));
    let world = game.server.world_mut();
    assert_eq!(
        world.query_filtered::<(), (With<ValueRequest<Hat>>, With<ControlledBy>)>().iter(world).count(),
        1
    );
}

#[test]
fn host_requests_values_like_a_client() {
    let mut game = TestMatch::new(true);
    hold_still(&mut game.server);
    let id = game.id;
    for (wanted, becomes) in [(Hat(4), Hat(4)), (CROWN, Hat(4)), (Hat(1), Hat(1))] {
        // Two changes within a tick.
        set_hat(&mut game.server, Hat(5));
        set_hat(&mut game.server, wanted);
        game.run(200);
        for app in game.clients.iter_mut().chain([&mut game.server]) {
            assert_eq!(hat(app, id), Some(becomes));
        }
        assert_eq!(own_hat(&mut game.server), Some(becomes));
    }
}

/// The predicted value that the local player sees.
fn own_hat(app: &mut App) -> Option<Hat> {
    let world = app.world_mut();
    let mut own = world.query_filtered::<&PredictedValue<Hat>, With<LocalControl>>();
    own.single(world).map(PredictedValue::get).ok()
}

#[test]
fn host_without_requests_sees_server_changes() {
    let bundled: fn(&mut App) = |server| {
        server.register_required_components_with::<NetId, Hat>(|| Hat(0));
    };
    for mut game in [TestMatch::with(true, bundled), TestMatch::new(true)] {
        hold_still(&mut game.server);
        assert_eq!(own_hat(&mut game.server), Some(Hat(0)));
        let world = game.server.world_mut();
        for mut hat in world.query::<&mut Hat>().iter_mut(world) {
            *hat = CROWN;
        }
        game.run(3);
        assert_eq!(own_hat(&mut game.server), Some(CROWN));
        set_hat(&mut game.server, Hat(2));
        game.run(200);
        assert_eq!(own_hat(&mut game.server), Some(Hat(2)));
        let id = game.id;
        for app in game.clients.iter_mut().chain([&mut game.server]) {
            assert_eq!(hat(app, id), Some(Hat(2)));
        }
    }
}

#[test]
fn value_changes_are_counted_in_bandwidth_on_both_ends() {
    let mut game = TestMatch::new(false);
    let mut sent = |change: bool| {
        let count = |app: &App| app.world().resource::<Bandwidth>().of(MessageClass::Moves).messages;
        let apps = |game: &TestMatch| [count(&game.clients[0]), count(&game.server)];
        let before = apps(&game);
        for i in 0..40 {
            if change {
                set_hat(&mut game.clients[0], Hat(i % 6));
            }
            game.run(15);
        }
        let after = apps(&game);
        [after[0] - before[0], after[1] - before[1]]
    };
    let (quiet, changes) = (sent(false), sent(true));
    println!("moves on the client and on the server: {quiet:?}, with changes {changes:?}");
    assert!(changes[0] >= quiet[0] + 40 && changes[1] >= quiet[1] + 40, "{quiet:?}, {changes:?}");
}

/// A replicated component without prediction.
#[derive(Component, Clone, Copy, PartialEq, Debug, Wire)]
struct Badge(#[wire(bits = 3)] u8);

impl Interpolate for Badge {
    fn interpolate(from: &Self, _: &Self, _: &InterpolationSpan) -> Self {
        *from
    }
}

/// Number of insertions of [`Hat`] and of [`Badge`].
#[derive(Resource, Default, Clone, Copy, PartialEq, Debug)]
struct Inserted(u32, u32);

#[test]
fn local_control_inserts_values_only_when_newer_ones_are_queued() {
    let mut server = app::server(ServerOptions::default());
    server.replicate_predicted::<Hat>().replicate_smoothed::<Badge>();
    server.init_resource::<Inserted>();
    server.add_observer(|_: On<Insert, Hat>, mut inserted: ResMut<Inserted>| inserted.0 += 1);
    server.add_observer(|_: On<Insert, Badge>, mut inserted: ResMut<Inserted>| inserted.1 += 1);
    let world = server.world_mut();
    // A host's pawn.
    world.spawn((LocalControl, Hat(1), Badge(1)));
    assert_eq!(*world.resource::<Inserted>(), Inserted(1, 1));

    // A client's pawn.
    let came = (
        ComponentInbox(vec![(Tick(3), Hat(2)), (Tick(6), Hat(3))]),
        ComponentInbox(vec![(Tick(3), Badge(2)), (Tick(6), Badge(3))]),
    );
    let pawn = world.spawn((Hat(1), Badge(1), came)).insert(LocalControl).id();
    assert_eq!(*world.resource::<Inserted>(), Inserted(3, 3));
    let of = world.entity(pawn);
    assert_eq!((of.get::<Hat>(), of.get::<Badge>()), (Some(&Hat(3)), Some(&Badge(3))));
    assert_eq!(of.get::<PredictedValue<Hat>>().map(PredictedValue::get), Some(Hat(3)));
}
