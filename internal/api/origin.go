package api

import (
	"bytes"
	"net/http"
	"net/url"
)

const (
	// originMark stands for the gateway's own address in what is made once and
	// served to everybody.
	originMark = "https://gateway.invalid"
	// usualOrigin is the address where a request names none that can be one.
	usualOrigin = "http://127.0.0.1:8080"
)

// withOrigin puts the gateway's address, as the client reaches it, in the place of
// the mark.
func (s *service) withOrigin(request *http.Request, content []byte) []byte {
	return bytes.ReplaceAll(content, []byte(originMark), []byte(s.origin(request)))
}

// origin is the gateway's address without anything that means something in HTML,
// JSON or YAML.
func (s *service) origin(request *http.Request) string {
	if s.PublicURL == "" && !isHost(request.Host) {
		return usualOrigin
	}
	address, err := url.Parse(s.baseURL(request))
	if err != nil || !isHost(address.Host) || address.Scheme != "http" && address.Scheme != "https" {
		return usualOrigin
	}
	return address.Scheme + "://" + address.Host + (&url.URL{Path: address.Path}).EscapedPath()
}
