//! Requests and responses of the matchmaker, as HTTP/1.1.

use bevy_unlag_server::RequestForm;

/// Longest request, in bytes.
pub(super) const MAX_REQUEST: usize = 4_096;

/// A request that was understood.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Request<'a> {
    /// Such as `POST`.
    pub method: &'a str,
    /// Path without its query.
    pub path: &'a str,
    /// What follows the header.
    pub body: &'a [u8],
}

/// Whether bytes are a whole request: a header, and as many bytes after it as it says.
pub(super) fn form(bytes: &[u8]) -> RequestForm {
    let Some(end) = header_end(bytes) else {
        return if bytes.len() < MAX_REQUEST {
            RequestForm::Incomplete
        } else {
            RequestForm::Invalid(response("431 Request Header Fields Too Large", "the request is too long\n"))
        };
    };
    let Some(length) = str::from_utf8(&bytes[..end]).ok().and_then(content_length) else {
        return RequestForm::Invalid(response("400 Bad Request", "expected a request of HTTP/1.1\n"));
    };
    if length > MAX_REQUEST - end.min(MAX_REQUEST) {
        return RequestForm::Invalid(response("413 Content Too Large", "the request is too long\n"));
    }
    if bytes.len() - end < length { RequestForm::Incomplete } else { RequestForm::Complete }
}

/// Parses a whole request.
pub(super) fn parse(bytes: &[u8]) -> Option<Request<'_>> {
    let end = header_end(bytes)?;
    let line = str::from_utf8(&bytes[..end]).ok()?.lines().next()?;
    let mut words = line.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    if words.next().is_some() || !version.starts_with("HTTP/1.") {
        return None;
    }
    Some(Request { method, path: target.split('?').next()?, body: &bytes[end..] })
}

/// Returns a response; the connection ends with it. `status` is a number and its name, such as `200 OK`.
pub(super) fn response(status: &str, body: &str) -> Vec<u8> {
    let kind = if body.starts_with('{') { "application/json" } else { "text/plain; charset=utf-8" };
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
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

    /// Status of the response to an invalid request.
    fn refusal(bytes: &[u8]) -> Option<String> {
        let RequestForm::Invalid(response) = form(bytes) else { return None };
        Some(String::from_utf8(response).expect("text").split(' ').nth(1).expect("a status").to_owned())
    }

    #[test]
    fn request_is_complete_with_its_body() {
        let bytes = b"POST /match?x=1 HTTP/1.1\r\nHost: a\r\ncontent-length: 5\r\n\r\n{\"a\"}";
        for length in 0..bytes.len() {
            assert_eq!(form(&bytes[..length]), RequestForm::Incomplete, "{length} bytes");
        }
        assert_eq!(form(bytes), RequestForm::Complete);
        assert_eq!(parse(bytes), Some(Request { method: "POST", path: "/match", body: b"{\"a\"}" }));
        assert_eq!(form(b"GET / HTTP/1.0\r\n\r\n"), RequestForm::Complete);
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
        let request = format!("POST / HTTP/1.1\r\nContent-Length: {MAX_REQUEST}\r\n\r\n");
        assert_eq!(refusal(request.as_bytes()).as_deref(), Some("413"));
        assert_eq!(refusal(&[b'a'; MAX_REQUEST]).as_deref(), Some("431"));
        assert_eq!(form(&[b'a'; MAX_REQUEST - 1]), RequestForm::Incomplete);
    }

    #[test]
    fn line_that_is_not_http_1_is_not_understood() {
        for line in ["", "GET", "GET /", "GET / HTTP/2", "GET /a b HTTP/1.1"] {
            assert_eq!(parse(format!("{line}\r\n\r\n").as_bytes()), None, "{line}");
        }
    }
}
