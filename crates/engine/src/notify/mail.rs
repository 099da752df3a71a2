//! A mail by SMTP, encrypted unless the server is this machine.

use std::error::Error as _;
use std::time::Duration;

use aurora_gate::approval::rules::notify::{Mail, MailTls};
use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Mailbox, MessageBuilder};
use lettre::transport::smtp;
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::{AsyncSmtpTransport, AsyncTransport, Tokio1Executor};

use super::message::Message;
use super::route::{Fault, Secret, Sender, Sending};

/// How long one command of the conversation may take.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Behind the `@` of a message's id. It is no host, so it is nobody's.
const OURS: &str = "aurora.invalid";

/// Sends mail to some addresses.
pub(super) struct Mailer {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
    to: Vec<Mailbox>,
}

impl Mailer {
    pub(super) fn new(mail: &Mail, to: &[String], secret: Option<&Secret>) -> Result<Self, String> {
        let parse = |text: &String| {
            let address = text.parse().map_err(|_| format!("{text} is no address of mail"))?;
            Ok::<Mailbox, String>(Mailbox::new(None, address))
        };
        let parameters = || TlsParameters::new(mail.host.clone()).map_err(|error| in_words(&error));
        let tls = match mail.tls {
            MailTls::Implicit => Tls::Wrapper(parameters()?),
            MailTls::StartTls => Tls::Required(parameters()?),
            MailTls::None => Tls::None,
        };
        let mut builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(&mail.host)
            .port(mail.port)
            .tls(tls)
            .timeout(Some(TIMEOUT));
        if let (Some(user), Some(secret)) = (&mail.user, secret) {
            let secret = secret.reveal().to_owned();
            builder = builder.credentials(Credentials::new(user.clone(), secret));
        }
        Ok(Self {
            transport: builder.build(),
            from: parse(&mail.from)?,
            to: to.iter().map(parse).collect::<Result<_, String>>()?,
        })
    }

    fn mail(&self, message: &Message) -> Result<lettre::Message, Fault> {
        let data = &message.data;
        let thread = format!("<{}@{OURS}>", data.request);
        let mut builder: MessageBuilder = lettre::Message::builder()
            .from(self.from.clone())
            .subject(format!("[aurora] {}", message.headline()))
            .message_id(Some(format!("<{}@{OURS}>", data.id.replace('/', "."))))
            .references(thread);
        // Machines that answer mail must not answer this.
        let automatic = HeaderName::new_from_ascii_str("Auto-Submitted");
        builder = builder.raw_header(HeaderValue::new(automatic, "auto-generated".to_owned()));
        for to in &self.to {
            builder = builder.to(to.clone());
        }
        let body = format!("{}\n\n{}", message.headline(), message.body());
        let built = builder.header(ContentType::TEXT_PLAIN).body(body);
        built.map_err(|error| Fault::refused(error.to_string()))
    }
}

impl Sender for Mailer {
    fn send<'a>(&'a self, message: &'a Message) -> Sending<'a> {
        Box::pin(async move {
            let mail = self.mail(message)?;
            match self.transport.send(mail).await {
                Ok(_) => Ok(()),
                Err(error) if error.is_permanent() => Err(Fault::refused(in_words(&error))),
                Err(error) => Err(Fault::passing(in_words(&error))),
            }
        })
    }
}

/// What went wrong, down to its cause.
fn in_words(error: &smtp::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error} ({cause})"),
        None => error.to_string(),
    }
}
