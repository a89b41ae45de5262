// Which settings of a webhook are refused.

package webhook

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"

	"github.com/recado-project/recado/internal/gateway"
)

const (
	maxURL    = 2_048
	maxSecret = 512
)

// check refuses settings that can't be used, and names the fields as the API does, where
// urlField is that of the URL. Without needed the URL may be missing. It returns the headers.
func (s *Service) check(settings Settings, urlField string, needed bool) ([]Header, error) {
	var filter Filter
	if settings.Events != nil {
		filter.Kinds = *settings.Events
	}
	if settings.Chats != nil {
		filter.Chats = *settings.Chats
	}
	wrong := filter.check()
	headers, err := NewHeaders(settings.Headers)
	if refused, ok := errors.AsType[*gateway.Error](err); ok {
		wrong = append(wrong, refused.Fields...)
	}
	if problem := s.checkURL(settings.URL); problem != "" && (needed || settings.URL != "") {
		wrong = append(wrong, gateway.FieldError{Field: urlField, Message: problem})
	}
	if secret := settings.Secret; secret != nil {
		switch {
		case *secret != "" && strings.TrimSpace(*secret) == "":
			wrong = append(wrong, gateway.FieldError{Field: "secret", Message: "must not be blank"})
		case strings.HasPrefix(*secret, secretPrefix) && !Secret(*secret).isEncoded():
			wrong = append(wrong, gateway.FieldError{Field: "secret", Message: "must have valid base64 after " + secretPrefix + ", as the Standard Webhooks libraries expect"})
		case *secret == "":
			wrong = append(wrong, gateway.FieldError{Field: "secret", Message: "must not be empty; leave it out to keep the one that is set"})
		case len(*secret) > maxSecret:
			wrong = append(wrong, gateway.FieldError{Field: "secret", Message: "is too long"})
		}
	}
	if settings.MediaLinks != nil && *settings.MediaLinks && s.links == nil {
		wrong = append(wrong, gateway.FieldError{Field: "mediaLinks", Message: "needs an address that links begin with: set RECADO_PUBLIC_URL where the gateway runs"})
	}
	if settings.Format != nil {
		if problem := s.checkFormat(*settings.Format); problem != "" {
			wrong = append(wrong, gateway.FieldError{Field: "format", Message: problem})
		}
	}
	if len(wrong) > 0 {
		return nil, gateway.InvalidFields(wrong...)
	}
	return headers, nil
}

// isPort reports whether the port of a URL is valid. A URL without a port is.
func isPort(text string) bool {
	port, err := strconv.ParseUint(text, 10, 16)
	return text == "" || err == nil && port > 0
}

// checkURL says what is wrong with an endpoint's URL, empty where it may be saved. It
// refuses addresses that are private. The address of a name is known, and checked,
// only when it is dialled.
func (s *Service) checkURL(text string) string {
	if len(text) > maxURL {
		return "is too long"
	}
	address, ok := gateway.ParseURL(text)
	switch {
	case !ok:
		return "must be an absolute http or https URL"
	case !isPort(address.Port()):
		return "must name a port up to 65535"
	case address.User != nil:
		return "must not hold a user name or a password"
	case s.guard == nil:
		return ""
	}
	host := strings.TrimSuffix(strings.ToLower(address.Hostname()), ".")
	if ip, err := netip.ParseAddr(host); err == nil {
		if !s.guard.Allows(ip) {
			return "must not point to a private address"
		}
		return ""
	}
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return "must not point to a private address"
	}
	return ""
}
