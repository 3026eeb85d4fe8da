//! Requests and responses of HTTP/1.1 for a [`RequestServer`](crate::RequestServer): short bodies, one request a
//! connection.

use crate::request_server::RequestForm;

/// Type of plain text.
const TEXT: &str = "text/plain; charset=utf-8";
/// Type of JSON.
const JSON: &str = "application/json";

/// A request that was understood.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HttpRequest<'a> {
    /// Method, such as `POST`.
    pub method: &'a str,
    /// Path without its query.
    pub path: &'a str,
    /// Body; empty if there is none.
    pub body: &'a [u8],
}

impl<'a> HttpRequest<'a> {
    /// Longest request in bytes, with header and body, for
    /// [`RequestLimits::request_bytes`](crate::RequestLimits::request_bytes). Prometheus sends about 300, browsers
    /// 1,000.
    pub const MAX_BYTES: usize = 4_096;

    /// Returns whether bytes are a whole request: a header, and as many bytes after it as it announces.
    #[must_use]
    pub fn form(bytes: &[u8]) -> RequestForm {
        let refuse = |status, line| RequestForm::Invalid(HttpResponse::text(status, line).to_bytes());
        let Some(end) = header_end(bytes) else {
            return if bytes.len() < Self::MAX_BYTES {
                RequestForm::Incomplete
            } else {
                refuse("431 Request Header Fields Too Large", "the request is too long")
            };
        };
        let Some(length) = str::from_utf8(&bytes[..end]).ok().and_then(content_length) else {
            return refuse("400 Bad Request", "expected a request of HTTP/1.1");
        };
        if length > Self::MAX_BYTES.saturating_sub(end) {
            return refuse("413 Content Too Large", "the request is too long");
        }
        if bytes.len() - end < length { RequestForm::Incomplete } else { RequestForm::Complete }
    }

    /// Parses a whole request. Returns `None` if it is not one of HTTP/1.
    #[must_use]
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let end = header_end(bytes)?;
        let line = str::from_utf8(&bytes[..end]).ok()?.lines().next()?;
        let mut words = line.split(' ');
        let (method, target, version) = (words.next()?, words.next()?, words.next()?);
        if words.next().is_some() || !version.starts_with("HTTP/1.") {
            return None;
        }
        Some(Self { method, path: target.split('?').next()?, body: &bytes[end..] })
    }
}

/// A response; the connection ends with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HttpResponse {
    /// Number and name of the status, such as `200 OK`.
    pub status: &'static str,
    /// Type of the body.
    pub content_type: &'static str,
    /// Body.
    pub body: String,
}

impl HttpResponse {
    /// Creates a response of one line of text, without its line break.
    #[must_use]
    pub fn text(status: &'static str, line: &str) -> Self {
        Self { status, content_type: TEXT, body: format!("{line}\n") }
    }

    /// Creates a response with a JSON document.
    #[must_use]
    pub fn json(body: String) -> Self {
        Self { status: "200 OK", content_type: JSON, body }
    }

    /// Creates the response to a method that a page does not take.
    #[must_use]
    pub fn wrong_method(allowed: &'static str) -> Self {
        let status = match allowed {
            "POST" => "405 Method Not Allowed\r\nAllow: POST",
            _ => "405 Method Not Allowed\r\nAllow: GET",
        };
        Self::text(status, &format!("only {allowed} is served"))
    }

    /// Returns the bytes to send.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let Self { status, content_type, body } = self;
        format!(
            "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
             Connection: close\r\n\r\n{body}",
            body.len()
        )
        .into_bytes()
    }
}

/// Returns the length of the header with the empty line at its end.
fn header_end(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|part| part == b"\r\n\r\n").map(|at| at + 4)
}

/// Returns the length of the body; `None` for a header that is not understood. A body in chunks is not.
fn content_length(header: &str) -> Option<usize> {
    let mut length = None;
    for line in header.lines().skip(1).filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':')?;
        if name.eq_ignore_ascii_case("transfer-encoding") {
            return None;
        }
        if name.eq_ignore_ascii_case("content-length") {
            let value = value.trim();
            let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
            // Two lengths could be understood in two ways.
            if length.is_some() || !is_number {
                return None;
            }
            length = Some(value.parse().ok()?);
        }
    }
    Some(length.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: usize = HttpRequest::MAX_BYTES;

    /// Status of the response to an invalid request.
    fn refusal(bytes: &[u8]) -> Option<String> {
        let RequestForm::Invalid(response) = HttpRequest::form(bytes) else { return None };
        Some(String::from_utf8(response).expect("text").split(' ').nth(1).expect("a status").to_owned())
    }

    #[test]
    fn request_is_complete_with_its_body() {
        let bytes = b"POST /match?x=1 HTTP/1.1\r\nHost: a\r\ncontent-length: 5\r\n\r\n{\"a\"}";
        for length in 0..bytes.len() {
            assert_eq!(HttpRequest::form(&bytes[..length]), RequestForm::Incomplete, "{length} bytes");
        }
        assert_eq!(HttpRequest::form(bytes), RequestForm::Complete);
        let request = HttpRequest { method: "POST", path: "/match", body: b"{\"a\"}" };
        assert_eq!(HttpRequest::parse(bytes), Some(request));
        assert_eq!(HttpRequest::form(b"GET / HTTP/1.0\r\n\r\n"), RequestForm::Complete);
    }

    #[test]
    fn header_that_is_ambiguous_or_too_long_is_refused() {
        for line in [
            "Content-Length: 5\r\nContent-Length: 6",
            "Content-Length: -1",
            "Content-Length: +5",
            "Content-Length: 99999999999999999999999",
            "Content-Length:",
            "Transfer-Encoding: chunked",
            "no colon",
        ] {
            let request = format!("POST / HTTP/1.1\r\n{line}\r\n\r\n");
            assert_eq!(refusal(request.as_bytes()).as_deref(), Some("400"), "{line}");
        }
        assert_eq!(refusal(b"POST / HTTP/1.1\r\nA: \xff\r\n\r\n").as_deref(), Some("400"));
        let request = format!("POST / HTTP/1.1\r\nContent-Length: {MAX}\r\n\r\n");
        assert_eq!(refusal(request.as_bytes()).as_deref(), Some("413"));
        assert_eq!(refusal(&[b'a'; MAX]).as_deref(), Some("431"));
        assert_eq!(HttpRequest::form(&[b'a'; MAX - 1]), RequestForm::Incomplete);
    }

    #[test]
    fn line_that_is_not_http_1_is_not_understood() {
        for line in ["", "GET", "GET /", "GET / HTTP/2", "GET /a b HTTP/1.1"] {
            assert_eq!(HttpRequest::parse(format!("{line}\r\n\r\n").as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn response_has_its_length_and_closes_the_connection() {
        let text = String::from_utf8(HttpResponse::wrong_method("GET").to_bytes()).expect("text");
        assert!(text.starts_with("HTTP/1.1 405 Method Not Allowed\r\nAllow: GET\r\n"), "{text}");
        let end = "\r\nContent-Length: 19\r\nCache-Control: no-store\r\nConnection: close\r\n\r\nonly GET is served\n";
        assert!(text.ends_with(end), "{text}");
    }
}
