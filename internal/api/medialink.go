package api

import (
	"context"
	"net/http"
	"regexp"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/body"
	"github.com/recado-project/recado/internal/api/format"
	"github.com/recado-project/recado/internal/gateway"
)

// MediaLink is a temporary way to the file of a message.
type MediaLink struct {
	URL       string `json:"url" doc:"Where the file is, without an API key, until the link ends." example:"http://127.0.0.1:8080/media/019aa1f4-5b0c-7e43-9d1f-6a1f2f6f3b11/019aa1f4-8d52-7c1e-b3a0-0f4de1c9a7b2?expires=1795188130&name=invoice-1234.pdf&signature=QXl0aGluZyBlbHNlIGlzIHJlZnVzZWQuLi4uLi4uLi4"`
	ExpiresIn int    `json:"urlExpiresIn" doc:"Seconds until the link ends." example:"3600"`
	FileName  string `json:"fileName" doc:"Name of the file." example:"invoice-1234.pdf"`
}

type mediaLinkInput struct {
	InstancePath

	MessageID string `path:"messageId" doc:"The message: its platform identifier, the composite form, or the id of a send result." example:"3EB0C431C26A1916E07A"`
}

// Resolve refuses what can't be an identifier.
func (in *mediaLinkInput) Resolve(huma.Context) []error {
	if wrong := format.CheckSegment(in.MessageID); wrong != "" {
		return []error{body.Wrong("messageId", wrong)}
	}
	return nil
}

func (s *service) registerMediaLink() {
	register(s, operation{
		id: "getMediaDownloadLink", method: http.MethodGet, path: "/api/message/{instanceId}/media-download-link/{messageId}", tag: tagMessages,
		summary: "Get a download link",
		description: "Fetches the file of a message, sent or received, from the platform, and answers a link to it that ends by itself. " +
			"The link needs no API key: whoever has it can read the file, for as long as the message is not deleted.",
		codes: append(sessionCodes(), gateway.CodeValidation, gateway.CodeMessageNotFound, gateway.CodeMessageHasNoMedia,
			gateway.CodeMediaNotFound, gateway.CodePayloadTooLarge),
	}, s.mediaLink)
}

func (s *service) mediaLink(ctx context.Context, in *mediaLinkInput) (*answer[MediaLink], error) {
	x := exchangeOf(ctx)
	if s.PublicURL == "" && !isHost(x.request.Host) {
		return nil, gateway.InvalidFields(gateway.FieldError{Field: "Host", Message: "must be a host, perhaps with a port: a link can't begin with it"})
	}
	link, err := s.Messages.MediaLink(ctx, x.instance.ID, messageRef(in.MessageID), s.baseURL(x.request))
	if err != nil {
		return nil, err
	}
	return &answer[MediaLink]{MediaLink{URL: link.URL, ExpiresIn: link.ExpiresIn, FileName: link.FileName}}, nil
}

// baseURL is how a client reaches the gateway, without a slash at the end: as
// configured, else as the request came.
func (s *service) baseURL(request *http.Request) string {
	if s.PublicURL != "" {
		return strings.TrimRight(s.PublicURL, "/")
	}
	scheme := "http"
	if request.TLS != nil {
		scheme = "https"
	}
	if s.BehindProxy {
		// Of several proxies the first is the one that the client has reached.
		first, _, _ := strings.Cut(request.Header.Get("X-Forwarded-Proto"), ",")
		switch forwarded := strings.ToLower(strings.TrimSpace(first)); forwarded {
		case "http", "https":
			scheme = forwarded
		}
	}
	return scheme + "://" + request.Host
}

// hostPattern is what a host with its port looks like: a name, an IPv4 address, or
// an IPv6 address in brackets.
var hostPattern = regexp.MustCompile(`^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9.])?|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?$`)

// isHost reports whether a request's Host can stand in a link.
func isHost(host string) bool { return hostPattern.MatchString(host) }
