//! The page around the client: its URL, its storage, and attributes of its body, which the page's script shows.

use bevy_unlag::guard::{CertificateDigest, WebSocketClient, WebTransportClient};
use unlag_examples::{connection, transport::ClientTransport};
use web_sys::{HtmlElement, UrlSearchParams, Window};

/// Attribute of the body with the parameters of the page's URL.
const PARAMETERS: &str = "parameters";
/// Name under which a tab keeps its client id.
const CLIENT_ID: &str = "unlag_client_id";
/// Longest parameter, in bytes: a connect token in hexadecimal.
const LONGEST: usize = 4_096;
/// In place of a token that the page has passed on before.
const USED: &str = "used";

/// The page.
pub struct Page {
    window: Window,
    body: HtmlElement,
}

/// Parameters of the page's URL, before or after `#`. They come from whoever made the link.
pub struct Parameters(UrlSearchParams);

impl Page {
    /// Returns the page, if the program runs in one.
    pub fn find() -> Option<Self> {
        let window = web_sys::window()?;
        let body = window.document()?.body()?;
        Some(Self { window, body })
    }

    /// Takes the parameters of its URL, which the page's script has read.
    pub fn take_parameters(&self) -> Result<Parameters, String> {
        let text = self.body.dataset().get(PARAMETERS).unwrap_or_default();
        self.body.dataset().delete(PARAMETERS);
        UrlSearchParams::new_with_str(&text)
            .map(Parameters)
            .map_err(|_| "the page's address cannot be read".to_owned())
    }

    /// Shows the state of the match, and a sentence for the player.
    pub fn show(&self, state: &str, text: &str) {
        let _ = self.body.dataset().set("text", text);
        let _ = self.body.dataset().set("state", state);
    }

    /// Notes that a server has answered.
    pub fn show_connected(&self) {
        let _ = self.body.dataset().set("connected", "");
    }

    /// Shows that the player has a pawn, unless the match has ended.
    pub fn show_joined(&self, player: u16) {
        let data = self.body.dataset();
        let _ = data.set("player", &player.to_string());
        if data.get("state").as_deref() == Some("joining") {
            self.show("playing", "");
        }
    }

    /// Writes a report in JSON.
    pub fn report(&self, json: &str) {
        let _ = self.body.dataset().set("report", json);
    }

    /// Returns whether the page holds the mouse.
    pub fn has_mouse(&self) -> bool {
        self.window.document().is_some_and(|document| document.pointer_lock_element().is_some())
    }

    /// Returns a value that the browser keeps for this page.
    pub fn kept(&self, name: &str) -> Option<String> {
        self.window.local_storage().ok()??.get_item(name).ok()?
    }

    /// Keeps a value. Returns whether the browser has.
    pub fn keep(&self, name: &str, value: &str) -> bool {
        let storage = self.window.local_storage().ok().flatten();
        storage.is_some_and(|storage| storage.set_item(name, value).is_ok())
    }

    /// Returns the client id that this tab had before it was reloaded.
    pub fn client_id(&self) -> Option<u64> {
        self.window.session_storage().ok()??.get_item(CLIENT_ID).ok()??.parse().ok()
    }

    /// Keeps the client id for a reload of this tab. A browser without storage forgets it.
    pub fn keep_client_id(&self, id: u64) {
        if let Ok(Some(storage)) = self.window.session_storage() {
            let _ = storage.set_item(CLIENT_ID, &id.to_string());
        }
    }
}

impl Parameters {
    /// Returns a parameter, if it is there and not too long.
    pub fn get(&self, name: &str) -> Option<String> {
        self.0.get(name).filter(|value| value.len() <= LONGEST)
    }

    /// Returns how to reach the server.
    pub fn transport(&self) -> Result<ClientTransport, String> {
        match self.get("transport").as_deref() {
            None | Some("web-transport") => Ok(ClientTransport::WebTransport(WebTransportClient {
                url: self.url(&["https://"])?,
                digest: self.digest()?,
            })),
            Some("web-socket") if self.digest()?.is_some() => {
                Err("browsers know no digest for WebSocket; remove the link's digest".to_owned())
            }
            Some("web-socket") => Ok(ClientTransport::WebSocket(WebSocketClient {
                url: self.url(&["wss://", "ws://"])?,
                digest: None,
            })),
            Some(_) => Err("the link's transport must be web-transport or web-socket".to_owned()),
        }
    }

    /// Returns the URL of the server, which begins with one of these schemes.
    fn url(&self, schemes: &[&str]) -> Result<Option<String>, String> {
        match self.get("url") {
            Some(url) if !schemes.iter().any(|scheme| url.starts_with(scheme)) => {
                Err(format!("the link's url must begin with {}", schemes.join(" or ")))
            }
            url => Ok(url),
        }
    }

    /// Returns the digest of the server's certificate, if the link has one.
    fn digest(&self) -> Result<Option<CertificateDigest>, String> {
        let digest = self.get("digest").filter(|digest| !digest.is_empty());
        digest.map(|digest| digest.parse()).transpose().map_err(|error| format!("the link's digest: {error}"))
    }

    /// Returns the bytes of the connect token.
    pub fn token(&self) -> Result<Option<Vec<u8>>, String> {
        let Some(text) = self.0.get("token") else { return Ok(None) };
        if text == USED {
            return Err("the link's token has been used; ask for a new link".to_owned());
        }
        if text.len() > LONGEST {
            return Err("the link's token is too long".to_owned());
        }
        let bytes = connection::parse_hexadecimal(&text);
        bytes.map(Some).ok_or_else(|| "the link's token is not in hexadecimal".to_owned())
    }
}
