//! Classes of messages.

bevy_unlag_core::named_enum! {
    /// A class of messages of the suite, for [`Bandwidth`](crate::Bandwidth).
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum MessageClass {
        /// Uplink: moves, and changes of predicted components
        /// ([`ReplicatePredicted`](crate::ReplicatePredicted)).
        Moves => "moves",
        /// Downlink: move acknowledgements and corrections.
        MoveAcks => "move acks",
        /// Downlink: snapshots of remote pawns.
        Snapshots => "snapshots",
        /// Downlink: everything that `bevy_replicon` replicates: spawned and despawned pawns and a game's own
        /// components.
        Replication => "replication",
        /// Downlink: rare changes of what clients know of pawns; see [`AddPawnState`](crate::AddPawnState).
        PawnStates => "pawn states",
        /// Downlink: shot verdicts for the shooter.
        Verdicts => "verdicts",
        /// Downlink: tracers of other players' shots.
        Tracers => "tracers",
        /// Downlink: projectile launches and ends.
        Projectiles => "projectiles",
        /// Downlink: the server's hello and rules of fire, schedules of movement bases, match restarts and
        /// the announcement of the server's shutdown.
        Hello => "hello",
        /// Uplink: clock synchronisation requests.
        Pings => "pings",
        /// Downlink: clock synchronisation replies.
        Pongs => "pongs",
        /// Uplink: a game's own messages, registered by
        /// [`AddGameMessage`](crate::AddGameMessage::add_game_message).
        GameUplink => "game, up",
        /// Downlink: a game's own messages.
        GameDownlink => "game, down",
        /// Downlink: the stream of the recording for [`Spectator`](crate::Spectator)s.
        Spectators => "spectators",
    }
}

impl MessageClass {
    /// Whether messages of this class travel on the uplink, from clients to the server.
    #[must_use]
    pub fn is_uplink(self) -> bool {
        matches!(self, Self::Moves | Self::Pings | Self::GameUplink)
    }
}
