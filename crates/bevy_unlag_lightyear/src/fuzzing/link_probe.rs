//! One link of an app whose peer is a fuzzer: lightyear and the suite's receiving systems as in a game,
//! without netcode.

use core::{any::TypeId, time::Duration};

use bevy::{
    ecs::{error::FallbackErrorHandler, schedule::SingleThreadedExecutor},
    prelude::*,
    state::app::StatesPlugin,
    time::TimeUpdateStrategy,
};
use bevy_unlag_core::{CurrentTick, SimulationRate};
use lightyear::{
    link::{Link, RecvPayload},
    prelude::{
        ChannelRegistry, Client, Connected, Linked, LocalId, MessageRegistry, PeerId, RemoteId,
        client::ClientPlugins,
        server::{ClientOf, ServerPlugins},
    },
};
use lightyear_transport::channel::ChannelKind;

use crate::{
    link::LightyearPings,
    messages,
    protocol::{
        GameReliableChannel, GameReliableMessage, GameUnreliableChannel, GameUnreliableMessage, MoveChannel,
    },
};

const TICK: Duration = Duration::from_nanos(15_625_000);

/// Channel and type of an injected message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InjectedMessage {
    /// A game's reliable message.
    Reliable,
    /// A game's unreliable message.
    Unreliable,
    /// A change of a predicted component: of the first one that the game has registered with
    /// [`replicate_predicted`](crate::ReplicatePredicted::replicate_predicted).
    Change,
}

/// An app with one end of a link, for packets from a fuzzer.
pub struct LinkProbe {
    /// The app.
    pub app: App,
    /// Its end of the link, connected.
    pub link: Entity,
    packets: u16,
    ordered: u16,
}

impl LinkProbe {
    /// Creates a server's end of a link; `game` registers the protocol.
    #[must_use]
    pub fn server(game: impl FnOnce(&mut App)) -> Self {
        let peer = (ClientOf, RemoteId(PeerId::Netcode(1)), LocalId(PeerId::Server), Connected);
        Self::start(ServerPlugins { tick_duration: TICK }, messages::server_plugin, game, peer)
    }

    /// Creates a client's end of a link; `game` registers the protocol.
    #[must_use]
    pub fn client(game: impl FnOnce(&mut App)) -> Self {
        let peer = (Client, RemoteId(PeerId::Server), LocalId(PeerId::Netcode(1)), Connected);
        Self::start(ClientPlugins { tick_duration: TICK }, messages::client_plugin, game, peer)
    }

    fn start(
        lightyear: impl PluginGroup,
        side: fn(&mut App),
        game: impl FnOnce(&mut App),
        peer: impl Bundle,
    ) -> Self {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, StatesPlugin)).add_plugins(lightyear);
        crate::plugin::add_shared_plugins(&mut app, SimulationRate::default(), false);
        side(&mut app);
        // Errors of lightyear's systems are not findings.
        app.insert_resource(FallbackErrorHandler(bevy::ecs::error::warn))
            .init_resource::<CurrentTick>()
            .insert_resource(TimeUpdateStrategy::ManualDuration(TICK));
        game(&mut app);
        app.finish();
        app.cleanup();
        for (_, schedule) in app.world_mut().resource_mut::<Schedules>().iter_mut() {
            schedule.set_executor(SingleThreadedExecutor::new());
        }
        app.update();
        let link =
            app.world_mut().spawn((Link::default(), Linked, LightyearPings::default().manager(), peer)).id();
        app.world_mut().flush();
        Self { app, link, packets: 0, ordered: 0 }
    }

    /// Queues a message of at most 1,000 bytes in a packet of its own; the next [`pass`](Self::pass) reads
    /// it.
    pub fn put(&mut self, lane: InjectedMessage, message: &[u8]) {
        let world = self.app.world_mut();
        let (channel, kind) = match lane {
            InjectedMessage::Reliable => {
                (channel::<GameReliableChannel>(world), kind::<GameReliableMessage>(world))
            }
            InjectedMessage::Unreliable => {
                (channel::<GameUnreliableChannel>(world), kind::<GameUnreliableMessage>(world))
            }
            InjectedMessage::Change => (channel::<MoveChannel>(world), change(world)),
        };
        let number = if lane == InjectedMessage::Reliable {
            let [high, low] = self.ordered.to_be_bytes();
            self.ordered = self.ordered.wrapping_add(1);
            vec![1, high, low]
        } else {
            vec![0]
        };
        // A packet of whole messages without acknowledgements.
        let head = [&[0][..], &self.packets.to_be_bytes(), &[0; 10]].concat();
        self.packets = self.packets.wrapping_add(1);
        let body = [&varint(kind)[..], message].concat();
        let length = varint(body.len() as u16);
        let packet = [&head[..], &varint(channel), &[1], &number, &length, &body].concat();
        if let Some(mut link) = world.get_mut::<Link>(self.link) {
            link.recv.push_raw(RecvPayload::from(&packet[..]));
        }
    }

    /// Runs a frame, `time` after the last one.
    pub fn pass(&mut self, time: Duration) {
        self.app.insert_resource(TimeUpdateStrategy::ManualDuration(time));
        self.app.update();
        if let Some(mut link) = self.app.world_mut().get_mut::<Link>(self.link) {
            // Nothing receives the replies.
            drop(link.send.drain());
        }
    }
}

fn channel<C: Send + Sync + 'static>(world: &World) -> u16 {
    let channels = world.resource::<ChannelRegistry>();
    *channels.get_net_from_kind(&ChannelKind::of::<C>()).expect("the protocol has it")
}

fn kind<M: 'static>(world: &World) -> u16 {
    let kinds = &world.resource::<MessageRegistry>().kind_map;
    *kinds.net_id(&TypeId::of::<M>().into()).expect("the protocol has it")
}

/// Returns the message id of `Change`, which is private to
/// [`predicted_component`](crate::predicted_component) and therefore found by name.
fn change(world: &World) -> u16 {
    let kinds = &world.resource::<MessageRegistry>().kind_map;
    let name = |id: u16| kinds.kind(id).and_then(|kind| kinds.name(kind));
    let is_it = |id: &u16| name(*id).is_some_and(|name| name.contains("::predicted_component::Change<"));
    (0..u16::MAX).find(is_it).expect("the game has replicated such a component")
}

/// Encodes lightyear's varint, for numbers below 16,384.
fn varint(number: u16) -> Vec<u8> {
    if number < 64 { vec![number as u8] } else { (number | 0x4000).to_be_bytes().to_vec() }
}
