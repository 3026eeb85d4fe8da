//! Chapter 6: keys and connect tokens.

use bevy::prelude::*;
use bevy_unlag::{
    guard::{ConnectTokenRequest, JoinRefused, ServerKey},
    prelude::*,
};
use std::{fs, net::SocketAddr};

use crate::network::GAME;

/// Prints a new key.
pub fn print_key() -> Result {
    println!("{}", ServerKey::random()?.to_hex());
    Ok(())
}

/// Reads the key of a server, which admits only clients with a token.
pub fn access(key_file: &str) -> Result<ServerAccess> {
    Ok(ServerAccess::new(ServerKey::from_file(key_file)?, GAME))
}

/// Issues a token for a player, as a matchmaker does.
pub fn issue(key: &ServerKey, player: u64, server: SocketAddr) -> Result<Vec<u8>> {
    Ok(ConnectTokenRequest::new(player, server, GAME).issue(key)?)
}

/// Writes a token to a file.
pub fn write(token_file: &str, key_file: &str, player: u64, server: SocketAddr) -> Result {
    let token = issue(&ServerKey::from_file(key_file)?, player, server)?;
    Ok(fs::write(token_file, token)?)
}

/// Reads a token.
pub fn read(token_file: &str) -> Result<TokenClient> {
    Ok(TokenClient::new(&fs::read(token_file)?)?)
}

/// On a client: says why the server has refused it.
pub fn client(app: &mut App) {
    app.add_systems(Update, |mut refused: MessageReader<JoinRefused>| {
        refused.read().for_each(|why| error!("not admitted: {why}"));
    });
}
