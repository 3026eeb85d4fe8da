//! Local admin command: an operator of the machine sees players, kicks, bans, changes the map and drains.
//!
//! 1. [`AdminPlugin`] listens on the loopback interface. Its address and its secret are in a file that only the user of
//!    the server can read. [`socket`]
//! 2. A request is a line, which becomes an [`AdminCommand`]. [`command`]
//! 3. Players, kicks, bans and drains are answered here, the other commands by the game. [`suite_commands`]
//! 4. [`send_admin_command`] is the other end, for a tool. [`client`]

mod client;
mod command;
mod socket;
mod suite_commands;

use std::{path::PathBuf, sync::Mutex};

use bevy::prelude::*;

pub use client::send_admin_command;
pub use command::{AdminCommand, InvalidAdminCommand};
pub use socket::AdminError;

use crate::request_server::RequestId;
use socket::AdminSocket;

/// Target of log lines about admin commands.
const ADMIN: &str = "bevy_unlag::admin";

/// A command of the operator. The game answers [`Map`](AdminCommand::Map) and [`Say`](AdminCommand::Say) with an
/// [`AdminAnswer`] within 2 s; this crate answers the others. It should read them in `Update`, or earlier.
#[derive(Message, Clone, PartialEq, Eq, Debug, Reflect)]
#[reflect(Message, Debug)]
pub struct AdminRequest {
    /// Id of the request, for the answer.
    pub id: RequestId,
    /// The command.
    pub command: AdminCommand,
}

/// Answer to an [`AdminRequest`]; the first one counts.
#[derive(Message, Clone, PartialEq, Eq, Debug, Reflect)]
#[reflect(Message, Debug)]
pub struct AdminAnswer {
    /// The request.
    pub id: RequestId,
    /// Text for the operator: the result, or the reason why the command has failed.
    pub result: Result<String, String>,
}

/// Takes an operator's commands and sends the answers. Add it after the server's plugins.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_unlag_server::AdminPlugin;
///
/// # let file = std::env::temp_dir().join(format!("admin_example_{}", std::process::id()));
/// App::new().add_plugins((MinimalPlugins, AdminPlugin::open(&file)?));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct AdminPlugin {
    /// Until it is in the app.
    socket: Mutex<Option<AdminSocket>>,
}

impl AdminPlugin {
    /// Listens on a free TCP port of the loopback interface, and writes a file with its address and a new secret: who
    /// can read the file may use the command. It is readable for this user alone: mode 0600 on Unix; elsewhere it has
    /// the rights of its folder, which should be the user's own. The file of an earlier run is replaced; it is removed
    /// with the app.
    ///
    /// # Errors
    /// The file cannot be written, something else than an admin file has its name, or no port is free.
    pub fn open(file: impl Into<PathBuf>) -> Result<Self, AdminError> {
        Ok(Self { socket: Mutex::new(Some(AdminSocket::open(file.into())?)) })
    }
}

impl Plugin for AdminPlugin {
    fn build(&self, app: &mut App) {
        if let Some(socket) = self.socket.lock().ok().and_then(|mut socket| socket.take()) {
            socket.log_start();
            app.insert_resource(socket);
        }
        app.add_message::<AdminRequest>()
            .add_message::<AdminAnswer>()
            .register_type::<AdminRequest>()
            .register_type::<AdminAnswer>()
            .add_systems(
                First,
                (socket::receive.run_if(resource_exists::<AdminSocket>), suite_commands::answer).chain(),
            )
            .add_systems(Last, socket::answer.run_if(resource_exists::<AdminSocket>));
    }
}
