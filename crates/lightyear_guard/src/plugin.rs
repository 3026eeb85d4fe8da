//! Plugins of both ends, and where their systems run.

use core::time::Duration;

use bevy::prelude::*;
use lightyear::{connection::ConnectionSystems, link::LinkSystems};
use lightyear_transport::plugin::TransportSystems;

use crate::{ingress, protocol, reflection, tokens};

/// The systems of the guard.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum GuardSystems {
    /// `PreUpdate`, between [`LinkSystems::Receive`] and [`ConnectionSystems::Receive`]: drops datagrams that netcode
    /// must not see. Whatever else touches received datagrams, such as a simulated link, belongs before it.
    Datagrams,
    /// The same place, after [`Datagrams`](Self::Datagrams): checks connect tokens.
    Tokens,
    /// `PreUpdate`, between [`ConnectionSystems::Receive`] and [`TransportSystems::Receive`]: drops decrypted packets
    /// that lightyear must not see.
    Packets,
    /// `PostUpdate`, between [`ConnectionSystems::Send`] and [`LinkSystems::Send`]: denials and disconnects leave.
    Answer,
}

/// Guards a server: add it after lightyear's `ServerPlugins`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServerGuardPlugin;

/// Guards a client: add it after lightyear's `ClientPlugins`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClientGuardPlugin;

impl Plugin for ServerGuardPlugin {
    fn build(&self, app: &mut App) {
        add_shared_plugins(app);
        ingress::plugin(app);
    }
}

impl Plugin for ClientGuardPlugin {
    fn build(&self, app: &mut App) {
        add_shared_plugins(app);
        ingress::client_plugin(app);
    }
}

/// Message, order and tokens: both ends have them, and an app that is both has them once.
fn add_shared_plugins(app: &mut App) {
    #[derive(Resource)]
    struct Added;

    if app.world().contains_resource::<Added>() {
        return;
    }
    app.insert_resource(Added);
    reflection::register_types(app);
    order(app);
    protocol::plugin(app);
    tokens::plugin(app);
}

pub(crate) fn order(app: &mut App) {
    app.configure_sets(
        PreUpdate,
        (
            (GuardSystems::Datagrams, GuardSystems::Tokens)
                .chain()
                .after(LinkSystems::Receive)
                .before(ConnectionSystems::Receive),
            GuardSystems::Packets.after(ConnectionSystems::Receive).before(TransportSystems::Receive),
        ),
    )
    .configure_sets(
        PostUpdate,
        GuardSystems::Answer.after(ConnectionSystems::Send).before(LinkSystems::Send),
    );
}

/// The part of a frame that counts against a peer's time limits: while a server hangs, it hears nobody.
#[must_use]
pub fn counted_delta(time: &Time<Real>) -> Duration {
    time.delta().min(Duration::from_millis(250))
}
