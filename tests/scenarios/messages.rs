//! Game messages over netcode: their rules hold for every sender.

mod delivery;
mod forbidden_messages;
mod limits;
mod pawns;
mod validators;

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_unlag::{
    core::{BitReader, BitWriter, Wire, WireError},
    guard::{IngressRefusal, LinkTraffic},
    link_conditioner::LinkConditions,
    net::{GameMessageStats, MessageRules, MessageSource, NetSystems},
    prelude::*,
};
use lightyear::prelude::{Client, Connected, PeerId, RemoteId, server::ClientOf};
use unlag_examples::{
    app::{self, ServerOptions},
    connection,
    scripted_player::ScriptedPlayer,
};

/// A round trip of 300 ms and 20 % loss.
fn bad_link() -> LinkConditions {
    LinkConditions { latency: crate::seconds(0.15), loss: 0.2, ..LinkConditions::PERFECT }
}

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Debug, Wire)]
        struct $name(u32);

        impl Number for $name {
            fn number(&self) -> u32 {
                self.0
            }
        }
    )*};
}

trait Number: Wire + Send + Sync + 'static {
    fn number(&self) -> u32;
}

numbers!(
    /// To the server, reliable.
    Say,
    /// Another reliable type to the server.
    Add,
    /// To the server, unreliable.
    Wave,
    /// To the server, reliable, at most five per second.
    Seldom,
    /// To the server, reliable; validated by the game.
    Ask,
    /// To the server, reliable; its validator cannot run.
    Orphan,
    /// To the owner of a pawn, reliable.
    Tell,
    /// To all clients, reliable.
    Shout,
    /// To all clients, unreliable.
    Spark,
);

/// To the server. Numbers above 100 fail to decode; 7 has trailing bytes.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Strict(u32);

impl Wire for Strict {
    fn write(&self, w: &mut BitWriter) {
        w.bits(self.0, 32);
        if self.0 == 7 {
            w.bits(0, 16);
        }
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Some(r.bits(32)?).filter(|number| *number <= 100).map(Self).ok_or(WireError::Invalid)
    }
}

impl Number for Strict {
    fn number(&self) -> u32 {
        self.0
    }
}

/// To the server and to all clients; as many bytes long as its number.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Long<const UP: bool>(u32);

impl<const UP: bool> Wire for Long<UP> {
    fn write(&self, w: &mut BitWriter) {
        w.bits(self.0, 32);
        (4..self.0).for_each(|_| w.bits(0xAA, 8));
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let length = r.bits(32)?;
        for _ in 4..length {
            r.bits(8)?;
        }
        Ok(Self(length))
    }
}

impl<const UP: bool> Number for Long<UP> {
    fn number(&self) -> u32 {
        self.0
    }
}

/// Received messages, in order within a frame and a type.
#[derive(Resource, Default)]
struct ReceivedLog(Vec<LoggedMessage>);

#[derive(Clone, Copy, PartialEq, Debug)]
struct LoggedMessage {
    kind: &'static str,
    from: MessageSource,
    about: Option<NetId>,
    number: u32,
}

fn log_messages<M: Number>(
    mut come: MessageReader<Received<M>>,
    names: Query<&NetId>,
    mut logged: ResMut<ReceivedLog>,
) {
    for Received { from, about, message } in come.read() {
        let about = about.map(|pawn| *names.get(pawn).expect("the pawn exists"));
        let kind = core::any::type_name::<M>().rsplit("::").next().unwrap_or_default();
        logged.0.push(LoggedMessage { kind, from: *from, about, number: message.number() });
    }
}

fn add<M: Number>(app: &mut App, rules: MessageRules) {
    app.add_game_message::<M>(rules)
        .add_systems(PreUpdate, log_messages::<M>.after(NetSystems::DeliverMessages));
}

fn protocol(app: &mut App) {
    app.init_resource::<ReceivedLog>();
    let often = MessageRules::to_server().per_second(10_000.0);
    add::<Say>(app, often);
    add::<Add>(app, often);
    add::<Wave>(app, often.unreliable());
    add::<Seldom>(app, MessageRules::to_server().per_second(5.0));
    add::<Ask>(app, often);
    add::<Orphan>(app, often);
    add::<Strict>(app, often);
    add::<Long<true>>(app, often);
    add::<Long<false>>(app, MessageRules::to_everyone());
    add::<Tell>(app, MessageRules::to_owner());
    add::<Shout>(app, MessageRules::to_everyone());
    add::<Spark>(app, MessageRules::to_everyone().unreliable());
    app.validate_game_message::<Ask, _>(validators::validate_ask)
        .validate_game_message::<Orphan, _>(validators::validate_orphan);
}

/// A server and its clients, stepped together.
struct Game {
    server: App,
    clients: Vec<App>,
}

impl Game {
    fn start(clients: u64, conditions: LinkConditions) -> Self {
        Self::start_with(clients, conditions, false)
    }

    fn start_with(count: u64, conditions: LinkConditions, host: bool) -> Self {
        let mut server = app::server(ServerOptions::default());
        protocol(&mut server);
        if host {
            app::add_scripted_host(&mut server, 9);
            server.insert_resource(ScriptedPlayer::idle());
        }
        server.insert_resource(TimeUpdateStrategy::ManualDuration(app::TICK));
        let listener = connection::listen_in_process(&mut server);
        bevy_unlag_testkit::finish(&mut server);
        let mut clients = Vec::new();
        for i in 0..count {
            let mut client = app::scripted_client(i, Default::default());
            protocol(&mut client);
            client
                .insert_resource(ScriptedPlayer::idle())
                .insert_resource(TimeUpdateStrategy::ManualDuration(app::TICK));
            let sim = NetSim::new(i + 50).with(conditions);
            connection::join(&mut server, listener, &mut client, i + 1, sim).expect("a token");
            bevy_unlag_testkit::finish(&mut client);
            clients.push(client);
        }
        let mut game = Self { server, clients };
        for _ in 0..640 {
            game.run(1);
            let pawns = usize::from(host) + count as usize;
            let known = |app: &mut App| {
                let own = usize::from(app.world().contains_resource::<ScriptedPlayer>());
                let world = app.world_mut();
                let mine = world.query_filtered::<(), With<LocalControl>>().iter(world).count();
                mine == own && world.query::<&NetId>().iter(world).count() == pawns
            };
            if game.clients.iter_mut().all(known) {
                return game;
            }
        }
        panic!("not all clients could join");
    }

    /// Runs `frames` frames of the server and of all clients.
    fn run(&mut self, frames: u32) {
        for _ in 0..frames {
            self.server.update();
            self.clients.iter_mut().for_each(App::update);
        }
    }

    fn seconds(&mut self, seconds: u32) {
        self.run(seconds * 64);
    }

    /// The network id of a client's pawn, or of the host's for `None`.
    fn pawn(&mut self, client: Option<usize>) -> NetId {
        crate::own_id(client.map_or(&mut self.server, |client| &mut self.clients[client]))
    }

    /// The server's end of a client's link if the client is connected.
    fn link(&mut self, client: usize) -> Option<Entity> {
        let world = self.server.world_mut();
        let mut links = world.query_filtered::<(Entity, &RemoteId), (With<ClientOf>, With<Connected>)>();
        let peer = PeerId::Netcode(client as u64 + 1);
        links.iter(world).find(|(_, remote)| remote.0 == peer).map(|(link, _)| link)
    }

    fn connected(&mut self, client: usize) -> bool {
        let world = self.clients[client].world_mut();
        world.query_filtered::<(), (With<Client>, With<Connected>)>().iter(world).count() == 1
    }

    fn traffic(&mut self, client: usize) -> LinkTraffic {
        let link = self.link(client).expect("the client is connected");
        *self.server.world().get(link).expect("the link's traffic is counted")
    }

    fn refused(&mut self, client: usize, refusal: IngressRefusal) -> u64 {
        self.traffic(client).refused.of(refusal)
    }
}

fn entity(app: &mut App, id: NetId) -> Entity {
    let world = app.world_mut();
    let mut pawns = world.query::<(Entity, &NetId)>();
    let found = pawns.iter(world).find(|(_, other)| **other == id);
    found.unwrap_or_else(|| panic!("{id:?} does not exist on this app")).0
}

fn send<M: Number>(app: &mut App, message: M) {
    let put = |In(message): In<M>, mut outbox: Outbox<M>| outbox.send(&message);
    app.world_mut().run_system_cached_with(put, message).expect("the system runs");
}

fn send_about<M: Number>(app: &mut App, pawn: NetId, message: M) {
    let pawn = entity(app, pawn);
    let put = |In((pawn, message)): In<(Entity, M)>, mut outbox: Outbox<M>| outbox.send_about(pawn, &message);
    app.world_mut().run_system_cached_with(put, (pawn, message)).expect("the system runs");
}

fn send_to<M: Number>(app: &mut App, link: Entity, message: M) {
    let put = |In((link, message)): In<(Entity, M)>, mut outbox: Outbox<M>| outbox.send_to(link, &message);
    app.world_mut().run_system_cached_with(put, (link, message)).expect("the system runs");
}

/// The messages of a type that an app received.
fn logged(app: &App, kind: &str) -> Vec<LoggedMessage> {
    let all = &app.world().resource::<ReceivedLog>().0;
    all.iter().copied().filter(|word| word.kind == kind).collect()
}

fn numbers(app: &App, kind: &str) -> Vec<u32> {
    logged(app, kind).iter().map(|word| word.number).collect()
}

fn stats(app: &App) -> GameMessageStats {
    *app.world().resource::<GameMessageStats>()
}
