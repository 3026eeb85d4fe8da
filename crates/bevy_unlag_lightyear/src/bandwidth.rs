//! Traffic counters per message class.

use core::time::Duration;

use bevy::{ecs::system::SystemParam, prelude::*};
use bevy_replicon::prelude::ClientReplicationStats;
use lightyear::prelude::{Client, MessageReceiver, MessageSender};

use crate::{message_class::MessageClass, protocol::ClassifiedMessage};

/// Traffic of one message class.
#[derive(Clone, Copy, PartialEq, Debug, Default, Reflect)]
pub struct ClassTraffic {
    /// Messages in total.
    pub messages: u64,
    /// Bytes in total.
    pub bytes: u64,
    /// Messages per second, over the last second.
    pub messages_per_second: f32,
    /// Bytes per second, over the last second.
    pub bytes_per_second: f32,
    /// Total number of messages and pawn snapshots that the bandwidth budget kept from being sent when they were due.
    /// A waiting message counts once, a snapshot that is due in every round counts in each of them. Counted by the
    /// sender.
    pub deferred: u64,
    /// Messages and bytes at the start of that second.
    began: (u64, u64),
}

/// Messages of the suite that this app has sent and received, per class: on a client those of its own link,
/// on a server those of all links together.
///
/// Bytes are message payloads: the framing of lightyear, netcode and UDP comes on top, and so do
/// retransmissions. [`NetSim::bytes`](crate::NetSim::bytes) counts whole datagrams.
#[doc(alias = "net_graph")]
#[derive(Resource, Clone, Copy, PartialEq, Debug, Default, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct Bandwidth {
    classes: [ClassTraffic; MessageClass::ALL.len()],
    /// Start of the current measuring second.
    began: Duration,
}

impl Bandwidth {
    /// Returns the traffic of one class.
    #[must_use]
    pub fn of(&self, class: MessageClass) -> ClassTraffic {
        self.classes[class as usize]
    }

    /// Returns the total uplink traffic, from clients to the server.
    #[must_use]
    pub fn up(&self) -> ClassTraffic {
        self.sum(MessageClass::is_uplink)
    }

    /// Returns the total downlink traffic, from the server to clients.
    #[must_use]
    pub fn down(&self) -> ClassTraffic {
        self.sum(|class| !class.is_uplink())
    }

    fn sum(&self, counts: impl Fn(MessageClass) -> bool) -> ClassTraffic {
        let of = MessageClass::ALL.into_iter().filter(|class| counts(*class)).map(|class| self.of(class));
        of.fold(ClassTraffic::default(), |sum, one| ClassTraffic {
            messages: sum.messages + one.messages,
            bytes: sum.bytes + one.bytes,
            messages_per_second: sum.messages_per_second + one.messages_per_second,
            bytes_per_second: sum.bytes_per_second + one.bytes_per_second,
            deferred: sum.deferred + one.deferred,
            began: (0, 0),
        })
    }

    /// Counts one message that was sent to or received from `links` links.
    pub(crate) fn count(&mut self, class: MessageClass, bytes: usize, links: usize) {
        self.add(class, links as u64, (bytes * links) as u64);
    }

    /// Counts messages that the budget kept from being sent.
    pub(crate) fn defer(&mut self, class: MessageClass, messages: usize) {
        self.classes[class as usize].deferred += messages as u64;
    }

    /// Takes the messages of a link and counts them.
    pub(crate) fn receive<R: ClassifiedMessage>(
        &mut self,
        link: &mut MessageReceiver<R>,
    ) -> impl Iterator<Item = R> {
        link.receive().inspect(move |message| self.count(R::CLASS, message.bytes().len(), 1))
    }

    /// Sends a message to a link and counts it.
    pub(crate) fn send<R: ClassifiedMessage>(&mut self, link: &mut MessageSender<R>, bytes: Vec<u8>) {
        self.count(R::CLASS, bytes.len(), 1);
        link.send::<R::Channel>(R::from_bytes(bytes));
    }

    fn add(&mut self, class: MessageClass, messages: u64, bytes: u64) {
        let traffic = &mut self.classes[class as usize];
        traffic.messages += messages;
        traffic.bytes += bytes;
    }

    /// Updates the rates when a second is over.
    fn pass(&mut self, now: Duration) {
        let passed = now.saturating_sub(self.began);
        if passed < Duration::from_secs(1) {
            return;
        }
        self.began = now;
        let rate = |new: u64, old: u64| (new.saturating_sub(old) as f64 / passed.as_secs_f64()) as f32;
        for traffic in &mut self.classes {
            traffic.messages_per_second = rate(traffic.messages, traffic.began.0);
            traffic.bytes_per_second = rate(traffic.bytes, traffic.began.1);
            traffic.began = (traffic.messages, traffic.bytes);
        }
    }
}

/// The server's messages of one type, on a client.
#[derive(SystemParam)]
pub(crate) struct ServerMessages<'w, 's, R: ClassifiedMessage> {
    links: Query<'w, 's, &'static mut MessageReceiver<R>, With<Client>>,
    bandwidth: ResMut<'w, Bandwidth>,
}

impl<R: ClassifiedMessage> ServerMessages<'_, '_, R> {
    /// Takes the messages and counts them.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = R> {
        let Self { links, bandwidth } = self;
        let received = links.iter_mut().flat_map(|link| link.into_inner().receive());
        received.inspect(move |message| bandwidth.count(R::CLASS, message.bytes().len(), 1))
    }
}

pub(crate) fn plugin(app: &mut App) {
    app.init_resource::<Bandwidth>().add_systems(Last, keep_time);
}

fn keep_time(time: Res<Time<Real>>, mut bandwidth: ResMut<Bandwidth>) {
    bandwidth.pass(time.elapsed());
}

/// Adds what `bevy_replicon` has counted on a client. A server counts what it sends.
pub(crate) fn count_replication(
    stats: Option<Res<ClientReplicationStats>>,
    mut seen: Local<(usize, usize)>,
    mut bandwidth: ResMut<Bandwidth>,
) {
    let now = stats.map_or((0, 0), |stats| (stats.messages, stats.bytes));
    // A game may reset the counters; counting then starts from zero.
    let new = |now: usize, seen: usize| now.checked_sub(seen).unwrap_or(now) as u64;
    let (messages, bytes) = (new(now.0, seen.0), new(now.1, seen.1));
    *seen = now;
    if messages > 0 {
        bandwidth.add(MessageClass::Replication, messages, bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_cover_the_last_second_and_totals_are_kept() {
        let mut bandwidth = Bandwidth::default();
        for tick in 1..=64 {
            bandwidth.count(MessageClass::Moves, 20, 1);
            bandwidth.pass(Duration::from_millis(16) * tick);
        }
        let moves = bandwidth.of(MessageClass::Moves);
        assert_eq!((moves.messages, moves.bytes), (64, 1_280));
        assert!((moves.bytes_per_second - 1_250.0).abs() < 25.0, "{moves:?}");
        assert!((moves.messages_per_second - 62.5).abs() < 1.5, "{moves:?}");
        // No traffic.
        bandwidth.pass(Duration::from_secs(4));
        let moves = bandwidth.of(MessageClass::Moves);
        bandwidth.pass(Duration::from_secs(6));
        let later = bandwidth.of(MessageClass::Moves);
        assert!(later.bytes_per_second == 0.0 && later.bytes == moves.bytes, "{later:?}");
    }

    #[test]
    fn each_class_is_counted_separately_and_once_per_link() {
        let mut bandwidth = Bandwidth::default();
        bandwidth.count(MessageClass::Moves, 30, 1);
        bandwidth.count(MessageClass::MoveAcks, 8, 1);
        bandwidth.count(MessageClass::Tracers, 10, 3);
        bandwidth.pass(Duration::from_secs(1));
        assert_eq!(bandwidth.of(MessageClass::MoveAcks).bytes, 8);
        let tracers = bandwidth.of(MessageClass::Tracers);
        assert_eq!((tracers.messages, tracers.bytes), (3, 30));
        assert_eq!(bandwidth.of(MessageClass::Verdicts), ClassTraffic::default());
        bandwidth.defer(MessageClass::Snapshots, 2);
        assert_eq!((bandwidth.of(MessageClass::Snapshots).deferred, bandwidth.down().deferred), (2, 2));
        assert_eq!(bandwidth.of(MessageClass::Snapshots).messages, 0);
        assert_eq!((bandwidth.up().bytes, bandwidth.down().bytes), (30, 38));
        assert_eq!(bandwidth.down().bytes_per_second, 38.0);
    }

    #[test]
    fn index_of_every_class_matches_its_place_in_all() {
        for (index, class) in MessageClass::ALL.iter().enumerate() {
            assert_eq!(*class as usize, index);
        }
    }

    #[test]
    fn replication_is_counted_once_and_survives_a_counter_reset() {
        let mut app = App::new();
        app.init_resource::<Bandwidth>().add_systems(Update, count_replication);
        app.update();
        let counted = |app: &App| {
            let traffic = app.world().resource::<Bandwidth>().of(MessageClass::Replication);
            (traffic.messages, traffic.bytes)
        };
        assert_eq!(counted(&app), (0, 0), "a server has no such counters");
        for (messages, bytes, sum) in [(2, 90, (2, 90)), (2, 90, (2, 90)), (1, 40, (3, 130))] {
            app.insert_resource(ClientReplicationStats { messages, bytes, ..default() });
            app.update();
            assert_eq!(counted(&app), sum);
        }
    }
}
