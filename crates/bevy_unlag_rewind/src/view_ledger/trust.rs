//! How far a client is believed when it says what its screen showed.

use core::time::Duration;

use bevy::prelude::*;

/// What becomes of a shot whose view cannot have been.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub enum Mismatch {
    /// It is judged at the nearest moment that can have been; one from too far back at what the server takes
    /// for its beginning, without what is conceded to frames and ticks.
    #[default]
    Clamp,
    /// It does not count.
    Refuse,
    /// It is judged at the moment that the server itself takes for the shooter's.
    ServerEstimate,
}

/// How far a client is believed when it says what its screen showed. The defaults let every honest client
/// pass that draws at least 4 frames a second, with the playout of `bevy_unlag_smoothing` as it comes.
#[derive(Resource, Clone, Copy, PartialEq, Debug)]
pub struct ViewTrust {
    /// What becomes of a shot whose view cannot have been. Default: it is moved to the nearest moment.
    pub mismatch: Mismatch,
    /// For how many ticks a screen carries poses on beyond the newest snapshot. Default 16, twice the
    /// sampler's [`max_extrapolation_ticks`](bevy_unlag_core::Sampler::max_extrapolation_ticks). Raising it
    /// believes views of what was not sent yet, which are no older for that.
    pub carried_on: u16,
    /// How long a frame of any client may take: a shot leaves at any time in it and shows its beginning.
    /// Default 40 ms: 30 frames a second that are not all of one length. Raising it forgives machines that
    /// hang now and then, and a client may choose among moments that lie this far apart.
    pub frame: Duration,
    /// How long a frame may take of a client whose moves come as many at a time, which shows that its frames
    /// are as long. Default 250 ms, the longest that Bevy simulates at once. Raising it beyond serves nobody
    /// else; lowering it moves the views of slow machines, and leaves less choice to who pretends to be one.
    pub longest_frame: Duration,
    /// By how much a view may fall behind in a tick of its shooter's, in 1/256 of a tick. Default 32:
    /// playout that runs at 0.922 while the client's ticks are steered by 5 %. Raising it lets a client who
    /// rarely fires choose among more moments.
    pub falling_behind: u16,
    /// How much longer than the transport's round trip the way of an acknowledgement may seem: both sides
    /// wait for a tick or a frame. Default 32 ms, a tick on either side. Raising it lets a client who holds
    /// its acknowledgements back
    /// live in an older past by as much.
    pub rtt_slack: Duration,
    /// The longest playout delay that is believed, whatever a client says that its link is like. Default 300
    /// ms: 20 % loss at 20 updates a second, with jitter. Raising it serves worse links, and is how much
    /// older than the round trip a liar's view can be at most.
    pub max_playout: Duration,
    /// The playout delay that is believed in the first five seconds of a client's pawn, while little is
    /// known of its way down. Default 120 ms. Lowering it moves the first shots of honest clients on bad links.
    pub initial_playout: Duration,
    /// The longest round trip that is believed while the transport does not know any. Default 400 ms. A game
    /// whose transport measures none serves players up to this far away.
    pub assumed_rtt: Duration,
}

impl Default for ViewTrust {
    fn default() -> Self {
        let ms = Duration::from_millis;
        Self {
            mismatch: Mismatch::Clamp,
            carried_on: 16,
            frame: ms(40),
            longest_frame: ms(250),
            falling_behind: 32,
            rtt_slack: ms(32),
            max_playout: ms(300),
            initial_playout: ms(120),
            assumed_rtt: ms(400),
        }
    }
}

/// Why a view cannot have been. When several hold, the first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum ViewFault {
    /// It lies ahead of the server's own tick when the shot arrived.
    FromTheFuture,
    /// It lies further beyond the newest snapshot that the client had heard of than a screen carries on.
    Unheard,
    /// The client has never acknowledged a snapshot and shoots at what it shows of them. It is refused under
    /// every [`Mismatch`].
    NothingHeard,
    /// It lies before the view of an earlier shot.
    SteppedBack,
    /// It fell further behind the client's own moves, since earlier shots, than playout can slow down.
    FellBehind,
    /// It lies further back than the round trip and the way down, as acknowledgements show it, can explain.
    TooFarBack,
}

impl ViewFault {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::FromTheFuture,
        Self::Unheard,
        Self::NothingHeard,
        Self::SteppedBack,
        Self::FellBehind,
        Self::TooFarBack,
    ];
}
