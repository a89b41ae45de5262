package doctor

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// authority signs the certificates of these tests. The machine trusts it, as far as this test
// binary can see.
//
//nolint:gochecknoglobals // Go reads the authorities once for all tests
var authority issuer

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "authority")
	if err == nil {
		authority, err = newIssuer(filepath.Join(folder, "authority.pem"))
	}
	if err == nil {
		err = os.Setenv("SSL_CERT_FILE", filepath.Join(folder, "authority.pem"))
	}
	if err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

// issuer issues certificates.
type issuer struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newIssuer(file string) (issuer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return issuer{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-365 * 24 * time.Hour), NotAfter: time.Now().Add(365 * 24 * time.Hour),
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return issuer{}, err
	}
	certificate, err := x509.ParseCertificate(signed)
	if err != nil {
		return issuer{}, err
	}
	return issuer{certificate, key}, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}), 0o600)
}

// issue issues a certificate for 127.0.0.1 that is valid until then.
func (i issuer) issue(t *testing.T, until time.Time) tls.Certificate {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "gateway"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-300 * 24 * time.Hour), NotAfter: until,
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, i.certificate, &i.key.PublicKey, i.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{signed}, PrivateKey: i.key}
}
