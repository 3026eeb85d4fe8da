//! Proxies through the plugin, as a game uses it: updates into inboxes, drawn poses out.

mod bases;
mod component;
mod hostile;
mod modes;
mod outages;
mod rates;
mod stage;
