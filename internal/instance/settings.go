// What an instance is set to: its name, its proxy, its label, its rules of sending, its switches.

package instance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/recado-project/recado/internal/gateway"
)

// maxName is how many characters an instance's name may have.
const maxName = 255

// Settings are what is to be changed of an instance. A nil field stays as it is. Except
// for the name, empty means the default.
type Settings struct {
	Name         *string
	ExternalName *string
	// Proxy is a URL, as gateway.ParseProxy takes it. The masked form of the one that is
	// set changes nothing.
	Proxy      *string
	DeviceName *string
	DeviceKind *string
	Sending    SendingChange
	Switches   SwitchesChange
}

// SwitchesChange is what is to be changed of the settings that are on or off. A nil field stays as it is.
type SwitchesChange struct {
	ReadMessages, ReadStatuses, AlwaysOnline, IgnoreGroups *bool
}

func (c SwitchesChange) apply(to *gateway.Switches) {
	set(&to.ReadMessages, c.ReadMessages)
	set(&to.ReadStatuses, c.ReadStatuses)
	set(&to.AlwaysOnline, c.AlwaysOnline)
	set(&to.IgnoreGroups, c.IgnoreGroups)
}

// Change changes settings of an instance and returns it. A new proxy is tried first: its
// error has one of the codes of proxies. A session that runs connects anew if its way to
// the platform changes, and a linking begins anew if the label changes. The error is
// Invalid for settings that can't be, Conflict for an external name that another instance of the
// account has, NotFound for an unknown instance.
func (s *Service) Change(ctx context.Context, id string, settings Settings) (gateway.Instance, error) {
	current, err := s.sessions.config.Store.GetInstance(ctx, id)
	if err != nil {
		return gateway.Instance{}, err
	}
	if settings.Proxy != nil && *settings.Proxy != "" && *settings.Proxy == current.Proxy.Masked() {
		settings.Proxy = nil
	}
	proxy, err := settings.check()
	if err != nil {
		return gateway.Instance{}, err
	}
	if proxy != "" && proxy != current.Proxy {
		if err := s.tryProxy(ctx, proxy); err != nil {
			return gateway.Instance{}, err
		}
	}
	err = s.command(ctx, id, func(ctx context.Context, sup *supervisor) error {
		return sup.set(ctx, settings, proxy)
	})
	if err != nil {
		return gateway.Instance{}, err
	}
	return s.Get(ctx, id)
}

// check refuses settings that can't be, and returns the proxy that they mean where they
// set one.
func (s Settings) check() (proxy gateway.Proxy, err error) {
	var wrong []gateway.FieldError
	refuse := func(field, message string) {
		wrong = append(wrong, gateway.FieldError{Field: field, Message: message})
	}
	if s.Name != nil {
		if problem := nameProblem(*s.Name, maxName); problem != "" {
			refuse("name", problem)
		}
	}
	if s.ExternalName != nil && *s.ExternalName != "" {
		if problem := nameProblem(*s.ExternalName, maxName); problem != "" {
			refuse("externalName", problem)
		}
	}
	if s.DeviceName != nil && *s.DeviceName != "" {
		if problem := nameProblem(*s.DeviceName, gateway.MaxDeviceName); problem != "" {
			refuse("device.name", problem)
		}
	}
	if s.DeviceKind != nil && *s.DeviceKind != "" && !slices.Contains(gateway.DeviceKinds(), gateway.DeviceKind(*s.DeviceKind)) {
		refuse("device.kind", fmt.Sprintf("must be one of %v", gateway.DeviceKinds()))
	}
	if s.Proxy != nil && *s.Proxy != "" {
		if proxy, err = gateway.ParseProxy(*s.Proxy); err != nil {
			refuse("proxy", err.Error())
		}
	}
	s.Sending.check(refuse)
	if len(wrong) > 0 {
		return "", gateway.InvalidFields(wrong...)
	}
	return proxy, nil
}

// nameProblem says what is wrong with a name that people read; empty for nothing.
func nameProblem(name string, most int) string {
	switch {
	case utf8.RuneCountInString(name) > most:
		return fmt.Sprintf("must have %d characters or less", most)
	case gateway.HasInvisible(name):
		return "must not have control characters, nor those that turn the direction of writing (U+202A to U+202E, U+2066 to U+2069)"
	case strings.TrimSpace(name) != name || name == "":
		return "must be a name: not blank, and without blanks around it"
	default:
		return ""
	}
}

// tryProxy reaches the platform through a proxy.
func (s *Service) tryProxy(ctx context.Context, proxy gateway.Proxy) error {
	err := s.sessions.config.Connector.CheckProxy(ctx, proxy)
	if errors.Is(err, gateway.ErrProxyForbidden) {
		return gateway.InvalidField("proxy", "must not have a private address; --allow-private-urls permits it")
	}
	failure, ok := errors.AsType[*gateway.ProxyError](err)
	if !ok {
		return err
	}
	code := gateway.CodeProxyUnreachable
	switch failure.Reason {
	case gateway.ReasonProxyAuth:
		code = gateway.CodeProxyAuthFailed
	case gateway.ReasonProxyPlatform:
		code = gateway.CodeProxyPlatform
	default:
	}
	return gateway.Errorf(gateway.Invalid, code, "%s; nothing was changed", proxyProblem(failure.Reason))
}

// proxyProblem says in words what is wrong with a proxy.
func proxyProblem(reason gateway.Reason) string {
	switch reason {
	case gateway.ReasonProxyAuth:
		return "the proxy does not take the user name and the password"
	case gateway.ReasonProxyPlatform:
		return "the proxy does not reach the platform"
	default:
		return "the proxy can't be reached, or what is there is not such a proxy"
	}
}

// set is the command behind Service.Change.
func (s *supervisor) set(ctx context.Context, settings Settings, proxy gateway.Proxy) error {
	before, err := s.service.sessions.config.Store.GetInstance(ctx, s.id)
	if err != nil {
		return err
	}
	after := before
	settings.apply(&after, proxy)
	if err := s.write(ctx, described, func(i *gateway.Instance) { settings.apply(i, proxy) }); err != nil {
		return err
	}
	if changed := s.service.config.OnlineChanged; changed != nil && after.Switches.AlwaysOnline != before.Switches.AlwaysOnline {
		changed(ctx, s.id)
	}
	anew := after.Proxy != before.Proxy || after.Label != before.Label && !before.Linked()
	if !anew || !s.running() {
		return nil
	}
	return s.start(ctx, started)
}

// apply changes the instance. proxy counts where the settings have one.
func (s Settings) apply(instance *gateway.Instance, proxy gateway.Proxy) {
	if s.Name != nil {
		instance.Name = *s.Name
	}
	if s.ExternalName != nil {
		instance.ExternalName = *s.ExternalName
	}
	if s.Proxy != nil && instance.Proxy != proxy {
		instance.Proxy = proxy
		if instance.Reason.IsProxy() { // that was the other one
			instance.Reason = ""
		}
	}
	if s.DeviceName != nil {
		instance.Label.Name = *s.DeviceName
	}
	if s.DeviceKind != nil {
		instance.Label.Kind = gateway.DeviceKind(*s.DeviceKind)
	}
	s.Sending.apply(&instance.Sending)
	s.Switches.apply(&instance.Switches)
}

// whyLost is the reason of a lost connection: the proxy's, if the proxy is why the
// platform was not reached.
func whyLost(trouble error) gateway.Reason {
	if failure, ok := errors.AsType[*gateway.ProxyError](trouble); ok {
		return failure.Reason
	}
	return connectionLost.reason()
}
