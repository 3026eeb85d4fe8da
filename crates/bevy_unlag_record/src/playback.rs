//! Playback of a recording: time, view, and the poses of all pawns.

mod camera;
mod live;
mod look;
mod pawns;
mod plugin;
mod screen_clock;
mod window;

use core::fmt;
use std::{
    fs::File,
    io::{BufReader, Read, Seek},
    path::Path,
};

use bevy::prelude::*;
use bevy_unlag_core::{BasePoses, NetId, PoseSample, PoseSampler, Tick, ViewStamp, ViewTime, Wire};

pub use camera::PlaybackCamera;
pub use look::PlaybackLookPlugin;
pub use pawns::PlaybackPawn;
pub use plugin::{PlaybackEvent, PlaybackPlugin, PlaybackSystems};
pub use screen_clock::{ScreenFrame, ScreenSource};
pub use window::ScreenPlayback;

use crate::{
    entry::{Entry, RecordedShot},
    error::RecordError,
    match_index::{MatchIndex, player_name},
    moves::RecordedMove,
    recording::Recording,
    roster::{PlayerNumber, Roster},
    segment::Segment,
    setup::RecordSetup,
};
use live::Live;
use window::{Window, undrawn};

/// Source of the bytes of a recording.
trait Source: Read + Seek + Send + Sync {}

impl<R: Read + Seek + Send + Sync> Source for R {}

/// From where a playback shows the match.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Reflect)]
pub enum PlaybackView {
    /// From a camera that the game moves. Pawns have the poses of the server.
    #[default]
    Free,
    /// From behind a pawn. Pawns have the poses of the server.
    ThirdPerson(NetId),
    /// Through the eyes of a pawn, as its player's screen showed it: other pawns are where, and as late as, that screen
    /// drew them. A pawn without a player has the poses of the server.
    FirstPerson(NetId),
}

impl PlaybackView {
    /// Returns the pawn that is followed.
    #[must_use]
    pub fn followed(self) -> Option<NetId> {
        match self {
            Self::Free => None,
            Self::ThirdPerson(pawn) | Self::FirstPerson(pawn) => Some(pawn),
        }
    }
}

/// Playback of a recording, in an app with a [`PlaybackPlugin`]. Insert and remove it at any time.
///
/// The moment that it shows is one of the server: [`time`](Self::time). In first person the screen is the one with
/// which the player made the move that the server ran at that moment, so shots are fired, resolved and seen in the same
/// tick of a playback.
#[derive(Resource)]
#[doc(alias = "demo_pause")]
#[doc(alias = "demo_gototick")]
pub struct Playback {
    recording: Recording<Box<dyn Source>>,
    /// Recordings of players' screens.
    screens: Vec<(PlayerNumber, Recording<Box<dyn Source>>)>,
    first: Tick,
    /// Ticks from the first to the last one.
    length: f64,
    /// Ticks since the first one.
    at: f64,
    is_playing: bool,
    speed: f32,
    view: PlaybackView,
    window: Window,
    roster: Roster,
    /// Generation of the window and tick of the roster.
    roster_of: Option<(u32, Tick)>,
    /// Screen of the followed player, with the generation of the window.
    followed: Option<(PlayerNumber, u32, ScreenPlayback)>,
    index: MatchIndex,
    indexed: usize,
    error: Option<String>,
    happened: Vec<(Tick, Entry)>,
    /// State that only a playback of a stream has.
    live: Option<Live>,
}

impl fmt::Debug for Playback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Playback")
            .field("time", &self.time())
            .field("is_playing", &self.is_playing)
            .field("speed", &self.speed)
            .field("view", &self.view)
            .finish_non_exhaustive()
    }
}

impl Playback {
    /// Least and largest speed.
    pub const SPEEDS: (f32, f32) = (0.05, 8.0);
    /// Most ticks of a frame whose events are reported; more are a jump.
    const MOST_PASSED: f64 = 64.0;

    /// Opens a file, at its first moment and paused. `own` is the setup of this build.
    ///
    /// # Errors
    /// Returns the reason if the file is no recording, [`RecordError::OtherBuild`] if it was recorded with something
    /// else than this build has, or [`RecordError::Empty`] if no part of it can be read.
    pub fn open(path: impl AsRef<Path>, own: &RecordSetup) -> Result<Self, RecordError> {
        Self::read(BufReader::new(File::open(path)?), own)
    }

    /// Opens a recording from any source, like [`open`](Self::open).
    ///
    /// # Errors
    /// The same as [`open`](Self::open).
    pub fn read(
        source: impl Read + Seek + Send + Sync + 'static,
        own: &RecordSetup,
    ) -> Result<Self, RecordError> {
        let recording = Recording::read(Box::new(source) as Box<dyn Source>)?;
        recording.check(own)?;
        let (first, last) = recording.span().ok_or(RecordError::Empty)?;
        let mut this = Self::of(recording, first, f64::from(last.since(first).max(0)));
        this.load()?;
        Ok(this)
    }

    /// Creates a paused playback that has loaded nothing yet.
    fn of(recording: Recording<Box<dyn Source>>, first: Tick, length: f64) -> Self {
        Self {
            recording,
            screens: Vec::new(),
            first,
            length,
            at: 0.0,
            is_playing: false,
            speed: 1.0,
            view: PlaybackView::Free,
            window: Window::default(),
            roster: Roster::default(),
            roster_of: None,
            followed: None,
            index: MatchIndex::default(),
            indexed: 0,
            error: None,
            happened: Vec::new(),
            live: None,
        }
    }

    /// Adds a recording that a player made of its own screen, so that first person shows each of its frames as it was.
    ///
    /// # Errors
    /// Returns the reason if it is no recording, or of another build than the recording of the match.
    pub fn add_screen(
        &mut self,
        player: PlayerNumber,
        source: impl Read + Seek + Send + Sync + 'static,
    ) -> Result<(), RecordError> {
        let screen = Recording::read(Box::new(source) as Box<dyn Source>)?;
        let known = RecordSetup {
            // A client knows neither, and a file may have been recorded on either side.
            level: String::new(),
            level_hash: 0,
            registry: 0,
            ..self.recording.setup().clone()
        };
        screen.check(&known)?;
        self.screens.retain(|(known, _)| *known != player);
        self.screens.push((player, screen));
        self.followed = None;
        Ok(())
    }

    /// Returns the setup of the recorded match.
    #[must_use]
    pub fn setup(&self) -> &RecordSetup {
        self.recording.setup()
    }

    /// Returns the settings by which screens turned snapshots into poses.
    #[must_use]
    pub fn sampler(&self) -> &PoseSampler {
        &self.recording.setup().sampler.0
    }

    /// Returns the first and the last tick.
    #[must_use]
    pub fn span(&self) -> (Tick, Tick) {
        (self.first, self.first.offset(self.length as i32))
    }

    /// Returns the moment of the server that is shown.
    #[must_use]
    pub fn time(&self) -> ViewTime {
        ViewTime::after(self.first, self.at)
    }

    /// Returns the duration of the recording in seconds.
    #[must_use]
    pub fn duration(&self) -> f64 {
        self.length * f64::from(self.sampler().tick_seconds)
    }

    /// Returns the seconds from the start of the recording to a tick.
    #[must_use]
    pub fn seconds_at(&self, tick: Tick) -> f64 {
        f64::from(tick.since(self.first)) * f64::from(self.sampler().tick_seconds)
    }

    /// Returns the seconds from the start of the recording to the moment that is shown.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.at * f64::from(self.sampler().tick_seconds)
    }

    /// Returns whether time passes.
    #[must_use]
    pub fn is_playing(&self) -> bool {
        self.is_playing
    }

    /// Lets time pass. At the end of the recording it starts again.
    pub fn play(&mut self) {
        if self.at >= self.length && self.live.is_none() {
            self.seek(ViewTime::at(self.first));
        }
        self.is_playing = true;
    }

    /// Stops time.
    pub fn pause(&mut self) {
        self.leave_live();
        self.is_playing = false;
    }

    /// Returns the speed; 1 is real time.
    #[must_use]
    pub fn speed(&self) -> f32 {
        self.speed
    }

    /// Sets the speed, clamped to [`SPEEDS`](Self::SPEEDS).
    pub fn set_speed(&mut self, speed: f32) {
        if speed.is_finite() {
            self.leave_live();
            self.speed = speed.clamp(Self::SPEEDS.0, Self::SPEEDS.1);
        }
    }

    /// Pauses, and goes forward or back by whole ticks, to the end of a tick.
    pub fn step(&mut self, ticks: i32) {
        self.pause();
        let from = if ticks > 0 { self.at.floor() } else { self.at.ceil() };
        self.go_to(from + f64::from(ticks));
    }

    /// Jumps to a moment, clamped to the recording. Costs the decoding of some seconds: a few milliseconds.
    pub fn seek(&mut self, time: ViewTime) {
        let ticks = f64::from(time.tick.since(self.first)) + f64::from(time.fraction) / 256.0;
        self.leave_live();
        self.at = ticks.clamp(0.0, self.length);
        self.happened.clear();
        self.load_or_stop();
    }

    /// Jumps to a number of seconds from the start of the recording.
    pub fn seek_seconds(&mut self, seconds: f64) {
        if seconds.is_finite() {
            self.seek(ViewTime::after(
                self.first,
                seconds.clamp(0.0, 1e7) / f64::from(self.sampler().tick_seconds),
            ));
        }
    }

    /// Lets time pass by seconds of real time, if it is playing. [`PlaybackPlugin`] calls it in each frame.
    pub fn advance(&mut self, seconds: f64) {
        if self.is_playing && seconds > 0.0 {
            let ticks = seconds * f64::from(self.speed) / f64::from(self.sampler().tick_seconds);
            self.go_to(self.at + self.paced(ticks));
            self.is_playing = self.is_playing && (self.at < self.length || self.live.is_some());
        }
    }

    fn go_to(&mut self, ticks: f64) {
        let (from, before) = (self.at, self.time().tick);
        self.at = ticks.clamp(0.0, self.length);
        self.skip_gap();
        self.load_or_stop();
        if self.at > from && self.at - from <= Self::MOST_PASSED {
            let passed = self.window.happened(before, self.time().tick);
            self.happened.extend(passed.map(|(tick, entry)| (tick, entry.clone())));
        }
    }

    fn load_or_stop(&mut self) {
        if let Err(error) = self.load() {
            self.error = Some(error.to_string());
            self.is_playing = false;
        }
    }

    /// Brings everything up to the current moment.
    fn load(&mut self) -> Result<(), RecordError> {
        let tick = self.time().tick;
        self.window.move_to(&mut self.recording, tick)?;
        let key = (self.window.generation(), tick);
        if self.roster_of != Some(key) {
            self.roster = self.window.roster(tick);
            self.roster_of = Some(key);
        }
        let followed = match self.view {
            PlaybackView::FirstPerson(pawn) => self.roster.player_of(pawn).map(|player| player.number),
            _ => None,
        };
        let is_current = |(player, generation, _): &(PlayerNumber, u32, ScreenPlayback)| {
            Some(*player) == followed && *generation == key.0
        };
        if !self.followed.as_ref().is_some_and(is_current) {
            self.followed = match followed {
                Some(player) => Some((player, key.0, self.screen_of(player)?)),
                None => None,
            };
        }
        Ok(())
    }

    /// Rebuilds the screen of a player around the moment that is shown. Costs about a millisecond.
    ///
    /// # Errors
    /// Returns the error of the source of the player's own recording, if there is one.
    pub fn screen_of(&mut self, player: PlayerNumber) -> Result<ScreenPlayback, RecordError> {
        let mut screen = self.window.screen(player, self.sampler().snapshot_ticks);
        let own = self.screens.iter_mut().find(|(of, _)| *of == player);
        if let Some(((_, recording), span)) = own.zip(self.window.span()) {
            screen.add_frames(recording, span)?;
        }
        Ok(screen)
    }

    /// Returns the view.
    #[must_use]
    pub fn view(&self) -> PlaybackView {
        self.view
    }

    /// Sets the view.
    pub fn set_view(&mut self, view: PlaybackView) {
        self.view = view;
        self.load_or_stop();
    }

    /// Returns the players and pawns of the moment that is shown.
    #[must_use]
    pub fn roster(&self) -> &Roster {
        &self.roster
    }

    /// Returns the name of the player of a pawn: as the game has given it, or `player 3` after its network id.
    #[must_use]
    pub fn name_of(&self, pawn: NetId) -> String {
        player_name(self.roster.player_of(pawn), pawn)
    }

    /// Returns the frame that the followed player's screen shows; `None` in another view than first person.
    #[must_use]
    pub fn frame(&self) -> Option<ScreenFrame> {
        self.followed.as_ref()?.2.frame(self.time())
    }

    /// Returns the pose that the server had of a pawn at a moment near the one that is shown.
    #[must_use]
    pub fn server_pose(&self, pawn: NetId, time: ViewTime, bases: &BasePoses) -> Option<PoseSample> {
        let server = self.window.server();
        server.pose(pawn, server.stamp(pawn, time)?, self.sampler(), &bases.at(time))
    }

    /// Returns the pose of a pawn in a frame of a player's screen, with its stamp. `None` if the screen did not draw
    /// it.
    #[must_use]
    pub fn pose_on_screen(
        &self,
        screen: &ScreenPlayback,
        frame: &ScreenFrame,
        pawn: NetId,
        bases: &BasePoses,
    ) -> Option<(PoseSample, ViewStamp)> {
        let stamp = screen.screen().stamp_in(&frame.view, pawn)?;
        let bases = bases.at(frame.view.bases.unwrap_or(ViewTime::at(frame.view.own)));
        Some((screen.screen().pose(pawn, stamp, self.sampler(), &bases)?, stamp))
    }

    /// Returns the pose that the current view shows of a pawn. It is not alive if the view does not draw it.
    #[must_use]
    pub fn pose(&self, pawn: NetId, bases: &BasePoses) -> (PoseSample, ViewStamp) {
        let of_server = self.server_pose(pawn, self.time(), bases);
        let server = (of_server.unwrap_or(undrawn(PoseSample::default())), ViewStamp::Present);
        if self.view.followed() == Some(pawn) {
            return server;
        }
        let Some((_, _, screen)) = &self.followed else { return server };
        let Some(frame) = screen.frame(self.time()) else { return server };
        let shown = self.pose_on_screen(screen, &frame, pawn, bases);
        shown.unwrap_or((undrawn(server.0), ViewStamp::Present))
    }

    /// Returns the moves that the server ran around the moment that is shown, of a pawn whose inputs have the type `I`.
    #[must_use]
    pub fn moves<I: Wire + Copy>(&self, pawn: NetId) -> Vec<RecordedMove<I>> {
        self.window.moves(pawn)
    }

    /// Returns a number that changes when other seconds of the recording have been loaded.
    #[must_use]
    pub fn generation(&self) -> u32 {
        self.window.generation()
    }

    /// Returns a shot that was resolved around the moment that is shown, with the tick in which it was.
    #[must_use]
    pub fn shot(&self, shooter: NetId, shot: Tick) -> Option<(Tick, &RecordedShot)> {
        self.window.segments().flat_map(Segment::entries).find_map(|(tick, entry)| match entry {
            Entry::Shot(found) if found.shooter == shooter && found.shot == shot => Some((tick, &**found)),
            _ => None,
        })
    }

    /// Returns what happens in the match, as far as it has been read: see [`is_indexed`](Self::is_indexed).
    #[must_use]
    pub fn index(&self) -> &MatchIndex {
        &self.index
    }

    /// Returns whether [`index`](Self::index) has the whole recording.
    #[must_use]
    pub fn is_indexed(&self) -> bool {
        self.indexed >= self.recording.segments().len()
    }

    /// Reads the next segment for the [`index`](Self::index). [`PlaybackPlugin`] calls it in each frame, for some
    /// milliseconds.
    pub fn index_next(&mut self) {
        if self.is_indexed() {
            return;
        }
        match self.recording.segment(self.indexed) {
            Ok(segment) => self.index.push(&segment),
            Err(RecordError::Io(error)) => self.error = Some(RecordError::Io(error).to_string()),
            Err(_) => {}
        }
        self.indexed += 1;
    }

    /// Removes and returns what has happened since the last call while time passed; nothing after a jump.
    pub fn take_happened(&mut self) -> Vec<(Tick, Entry)> {
        core::mem::take(&mut self.happened)
    }

    /// Returns the last error of the source, in one line.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }
}
