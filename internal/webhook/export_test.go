package webhook

import (
	"crypto/tls"
	"crypto/x509"

	"github.com/recado-project/recado/internal/eventlog"
)

// Trust makes the client believe in a certificate. It is called before anything
// is sent.
func (s *Service) Trust(certificate *x509.Certificate) {
	s.client.transport.TLSClientConfig = &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
	s.client.transport.TLSClientConfig.RootCAs.AddCert(certificate)
}

// InMemory returns how many events of an instance are in memory.
func (s *Service) InMemory(instanceID string) int {
	p, _ := s.pump(First(instanceID))
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.backlog.Loaded()
}

// IsClosed returns a function that reports whether the webhook of an instance begins nothing any more.
func (s *Service) IsClosed(instanceID string) func() bool {
	p, _ := s.pump(First(instanceID))
	return func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.closed
	}
}

// Health returns how the webhook of an instance is doing, or a
// gateway.NotFound.
func (s *Service) Health(instanceID string) (Health, error) {
	p, ok := s.pump(First(instanceID))
	if !ok {
		return Health{}, notFound()
	}
	return p.health(), nil
}

// MediaLinkOf is mediaLinkOf.
func MediaLinkOf(links MediaLinks, event eventlog.Event) *eventlog.MediaLink {
	return mediaLinkOf(links, event)
}
