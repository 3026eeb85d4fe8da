//! What the suite's messages cost, by kind.

use core::time::Duration;

use bevy::prelude::*;
use bevy_replicon::prelude::ClientReplicationStats;

/// A kind of message of the suite.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MessageClass {
    /// From clients: what their players want. What they change of a game's components
    /// ([`ReplicatePredicted`](crate::ReplicatePredicted)) is in here.
    Moves,
    /// To clients: acknowledgements and corrections.
    Answers,
    /// To clients: what is seen of pawns that others steer.
    Snapshots,
    /// To clients: everything that replicon replicates: which pawns there are, and a game's own
    /// components. Counted on clients only: a server cannot tell without encoding it once more.
    Replication,
    /// To clients: what became of their shots.
    Verdicts,
    /// To clients: the shots of others.
    Tracers,
    /// To clients: what flies, and where it ended.
    Projectiles,
    /// To clients: the server's first word, and what it says of matches and of its end.
    Hello,
    /// From clients: what time is it?
    Pings,
    /// To clients: what time it is.
    Pongs,
    /// From clients: a game's own messages, as added by
    /// [`AddGameMessage`](crate::AddGameMessage::add_game_message).
    GameUp,
    /// To clients: the same.
    GameDown,
}

impl MessageClass {
    /// All of them, in the order of [`index`](Self::index).
    pub const ALL: [Self; 12] = [
        Self::Moves,
        Self::Answers,
        Self::Snapshots,
        Self::Replication,
        Self::Verdicts,
        Self::Tracers,
        Self::Projectiles,
        Self::Hello,
        Self::Pings,
        Self::Pongs,
        Self::GameUp,
        Self::GameDown,
    ];

    /// Its place in [`ALL`](Self::ALL).
    #[must_use]
    pub fn index(self) -> usize {
        self as usize
    }

    /// Whether it goes up, from clients to the server; the others go down.
    #[must_use]
    pub fn is_up(self) -> bool {
        matches!(self, Self::Moves | Self::Pings | Self::GameUp)
    }

    /// What to call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Moves => "moves",
            Self::Answers => "answers",
            Self::Snapshots => "snapshots",
            Self::Replication => "replication",
            Self::Verdicts => "verdicts",
            Self::Tracers => "tracers",
            Self::Projectiles => "projectiles",
            Self::Hello => "hello",
            Self::Pings => "pings",
            Self::Pongs => "pongs",
            Self::GameUp => "game, up",
            Self::GameDown => "game, down",
        }
    }
}

/// What one kind of message has cost.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Traffic {
    /// Messages so far.
    pub messages: u64,
    /// Their bytes so far.
    pub bytes: u64,
    /// Messages a second, over the last second.
    pub messages_per_second: f32,
    /// Bytes a second, over the last second.
    pub bytes_per_second: f32,
    /// Messages and bytes when that second began.
    began: (u64, u64),
}

/// The messages of the suite that this app has sent and received, by kind. On a client its own link,
/// on a server all links together.
///
/// Bytes are those of the messages themselves: what lightyear, netcode and UDP wrap around them comes
/// on top, and so do copies of what was lost. [`NetSim::bytes`](crate::NetSim::bytes) has whole
/// datagrams.
#[derive(Resource, Clone, Copy, PartialEq, Debug, Default)]
pub struct Bandwidth {
    classes: [Traffic; MessageClass::ALL.len()],
    /// When the second began that is not over yet.
    began: Duration,
}

impl Bandwidth {
    /// What this kind of message has cost.
    #[must_use]
    pub fn of(&self, class: MessageClass) -> Traffic {
        self.classes[class.index()]
    }

    /// What everything from clients to the server has cost.
    #[must_use]
    pub fn up(&self) -> Traffic {
        self.sum(MessageClass::is_up)
    }

    /// What everything from the server to clients has cost.
    #[must_use]
    pub fn down(&self) -> Traffic {
        self.sum(|class| !class.is_up())
    }

    fn sum(&self, counts: impl Fn(MessageClass) -> bool) -> Traffic {
        let of = MessageClass::ALL.into_iter().filter(|class| counts(*class)).map(|class| self.of(class));
        of.fold(Traffic::default(), |sum, one| Traffic {
            messages: sum.messages + one.messages,
            bytes: sum.bytes + one.bytes,
            messages_per_second: sum.messages_per_second + one.messages_per_second,
            bytes_per_second: sum.bytes_per_second + one.bytes_per_second,
            began: (0, 0),
        })
    }

    /// Counts a message that goes to or comes from this many links.
    pub(crate) fn count(&mut self, class: MessageClass, bytes: usize, links: usize) {
        self.add(class, links as u64, (bytes * links) as u64);
    }

    fn add(&mut self, class: MessageClass, messages: u64, bytes: u64) {
        let traffic = &mut self.classes[class.index()];
        traffic.messages += messages;
        traffic.bytes += bytes;
    }

    /// Ends a second when it is over.
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

pub(crate) fn plugin(app: &mut App) {
    app.init_resource::<Bandwidth>().add_systems(Last, keep_time);
}

fn keep_time(time: Res<Time<Real>>, mut bandwidth: ResMut<Bandwidth>) {
    bandwidth.pass(time.elapsed());
}

/// Takes over what replicon has counted on a client.
pub(crate) fn count_replication(
    stats: Option<Res<ClientReplicationStats>>,
    mut seen: Local<(usize, usize)>,
    mut bandwidth: ResMut<Bandwidth>,
) {
    let now = stats.map_or((0, 0), |stats| (stats.messages, stats.bytes));
    // A game that sets the counters back begins to count from nothing.
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
    fn a_rate_is_of_the_last_second_and_what_was_counted_stays() {
        let mut bandwidth = Bandwidth::default();
        for tick in 1..=64 {
            bandwidth.count(MessageClass::Moves, 20, 1);
            bandwidth.pass(Duration::from_millis(16) * tick);
        }
        let moves = bandwidth.of(MessageClass::Moves);
        assert_eq!((moves.messages, moves.bytes), (64, 1_280));
        assert!((moves.bytes_per_second - 1_250.0).abs() < 25.0, "{moves:?}");
        assert!((moves.messages_per_second - 62.5).abs() < 1.5, "{moves:?}");
        // Silence.
        bandwidth.pass(Duration::from_secs(4));
        let moves = bandwidth.of(MessageClass::Moves);
        bandwidth.pass(Duration::from_secs(6));
        let later = bandwidth.of(MessageClass::Moves);
        assert!(later.bytes_per_second == 0.0 && later.bytes == moves.bytes, "{later:?}");
    }

    #[test]
    fn each_class_is_counted_by_itself_and_for_every_link() {
        let mut bandwidth = Bandwidth::default();
        bandwidth.count(MessageClass::Moves, 30, 1);
        bandwidth.count(MessageClass::Answers, 8, 1);
        bandwidth.count(MessageClass::Tracers, 10, 3);
        bandwidth.pass(Duration::from_secs(1));
        assert_eq!(bandwidth.of(MessageClass::Answers).bytes, 8);
        let tracers = bandwidth.of(MessageClass::Tracers);
        assert_eq!((tracers.messages, tracers.bytes), (3, 30));
        assert_eq!(bandwidth.of(MessageClass::Verdicts), Traffic::default());
        assert_eq!((bandwidth.up().bytes, bandwidth.down().bytes), (30, 38));
        assert_eq!(bandwidth.down().bytes_per_second, 38.0);
    }

    #[test]
    fn every_class_is_in_its_place() {
        for (index, class) in MessageClass::ALL.iter().enumerate() {
            assert_eq!(class.index(), index);
        }
    }

    #[test]
    fn replication_is_counted_once_and_survives_a_reset() {
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
