//! Restart of the match on a running server: removes the state of the old match on both sides.

use bevy::{ecs::system::StaticSystemParam, prelude::*};
use bevy_unlag_core::{BitReader, BitWriter, CurrentTick, MatchReset, MoveModel, Tick, Wire};
use lightyear::prelude::{server::ClientOf, *};

use super::handshake::{Announced, setup_of};
use crate::{
    Bandwidth, MessageClass,
    client::ReceiveSystems,
    protocol::{RestartMessage, Setup, VerdictChannel},
};

/// Restarts the match at the start of the server's next frame. Trigger it on a server. See
/// [`MatchRestarted`].
///
/// Projectiles in flight are removed without an end event. Moves and shots from before the restart are never
/// executed, even if they arrive later, and no shot is rewound into the old match: its view time is refused.
/// Ticks continue.
///
/// If the level changes, load the new one before the restart, or in an observer of [`MatchRestarted`]: its
/// hash is announced a tick later, and every client compares it as when joining.
#[doc(alias = "RestartGame")]
#[doc(alias = "mp_restartgame")]
#[derive(Event, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RestartMatch;

/// The match was restarted. Triggered on the server immediately, where the game should place its players, and
/// on each client when the announcement arrives, where the game should remove what it shows of the old match:
/// decals, corpses, scores.
#[derive(Event, Clone, Copy, PartialEq, Eq, Debug)]
pub struct MatchRestarted {
    /// Match number of the server; wraps after 255.
    pub round: u8,
    /// The last server tick of the old match.
    pub tick: Tick,
}

/// The current match, on servers.
#[derive(Resource, Default, Debug)]
pub(super) struct Round {
    pub number: u8,
    /// Whether a restart was requested.
    asked: bool,
    /// Last tick of the old match, until the restart is announced to clients.
    untold: Option<Tick>,
}

impl Round {
    /// Whether the restart was not announced to clients yet.
    pub(super) fn is_pending(&self) -> bool {
        self.untold.is_some()
    }
}

/// On a client's link: the newest match that the server has announced.
#[derive(Component, Clone, Copy, Debug)]
pub(crate) struct KnownRound(u8);

pub(super) fn server_plugin<M: MoveModel>(app: &mut App) {
    app.init_resource::<Round>()
        .add_observer(|_: On<RestartMatch>, mut round: ResMut<Round>| round.asked = true)
        .add_systems(First, begin.run_if(|round: Res<Round>| round.asked))
        .add_systems(
            PostUpdate,
            tell::<M>.run_if(|round: Res<Round>| round.is_pending()).before(MessageSystems::Send),
        );
}

pub(super) fn client_plugin(app: &mut App) {
    app.add_observer(forget_rounds).add_systems(
        PreUpdate,
        hear.after(MessageSystems::Receive)
            .after(ReplicationSystems::Receive)
            .before(ReceiveSystems::Snapshots),
    );
}

fn begin(tick: Res<CurrentTick>, mut round: ResMut<Round>, mut commands: Commands) {
    let now = tick.0;
    round.asked = false;
    round.number = round.number.wrapping_add(1);
    round.untold = Some(now);
    commands.trigger(MatchReset { tick: now });
    info!("match {} begins after {now:?}", round.number);
    commands.trigger(MatchRestarted { round: round.number, tick: now });
}

/// Announces the restart a tick later, when the game has set up the new match.
fn tell<M: MoveModel>(
    tick: Res<CurrentTick>,
    mut round: ResMut<Round>,
    model: Option<Res<M::Config>>,
    world: StaticSystemParam<M::World>,
    mut links: Query<&mut MessageSender<RestartMessage>, (With<ClientOf>, With<Connected>)>,
    mut bandwidth: ResMut<Bandwidth>,
) {
    let Some(began) = round.untold.filter(|began| tick.0.is_newer_than(*began)) else { return };
    round.untold = None;
    let mut w = BitWriter::default();
    setup_of::<M>(round.number, model.as_deref(), &world).write(&mut w);
    began.write(&mut w);
    let bytes = w.finish();
    for mut link in &mut links {
        bandwidth.count(MessageClass::Hello, bytes.len(), 1);
        link.send::<VerdictChannel>(RestartMessage(bytes.clone()));
    }
}

/// Resets the match state: another connection may be to another server, which numbers its own matches.
fn forget_rounds(connected: On<Add, Connected>, links: Query<(), With<Client>>, mut commands: Commands) {
    if links.contains(connected.entity) {
        commands.entity(connected.entity).try_remove::<KnownRound>();
    }
}

fn hear(
    mut links: Query<(Entity, Option<&KnownRound>, &mut MessageReceiver<RestartMessage>), With<Client>>,
    mut bandwidth: ResMut<Bandwidth>,
    mut commands: Commands,
) {
    for (entity, known, mut link) in &mut links {
        let mut known = known.map(|known| known.0);
        for message in link.receive() {
            bandwidth.count(MessageClass::Hello, message.0.len(), 1);
            let mut r = BitReader::new(&message.0);
            let Ok((setup, tick)) = Setup::read(&mut r).and_then(|setup| Ok((setup, Tick::read(&mut r)?)))
            else {
                continue;
            };
            // Announcements may overtake each other.
            if known.is_some_and(|known| setup.round.wrapping_sub(known).cast_signed() <= 0) {
                continue;
            }
            known = Some(setup.round);
            commands.trigger(MatchReset { tick });
            commands.entity(entity).insert((Announced(setup), KnownRound(setup.round)));
            commands.trigger(MatchRestarted { round: setup.round, tick });
        }
    }
}
