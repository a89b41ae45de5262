// Instances: making and linking them, their settings and their proxy.

package evolution

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/clock"
)

// integration is what that API calls a linked device.
const integration = "WHATSAPP-BAILEYS"

// stateOf is a status in that API's words.
func stateOf(status string) string {
	switch status {
	case client.StatusConnected:
		return "open"
	case client.StatusConnecting, client.StatusPendingQRCodeScan:
		return "connecting"
	default:
		return "close"
	}
}

// orNil is a text, or null where there is none.
func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// instanceOf is an instance as lists have it.
func instanceOf(i client.Instance) object {
	return object{
		"id": i.InstanceID, "name": cmp.Or(i.ExternalName, i.Name), "connectionStatus": stateOf(i.Status), "ownerJid": orNil(i.MessengerJID),
		"profileName": orNil(i.MessengerName), "profilePicUrl": orNil(i.MessengerProfilePicURL), "integration": integration,
		"number": orNil(i.MessengerID), "businessId": nil, "token": nil, "clientName": "recado",
		"disconnectionReasonCode": nil, "disconnectionObject": nil, "disconnectionAt": nil,
		"createdAt": clock.Spelled(i.CreatedAt), "updatedAt": clock.Spelled(i.UpdatedAt),
		"Chatwoot": nil, "Proxy": proxyOf(i), "Rabbitmq": nil, "Nats": nil, "Sqs": nil, "Websocket": nil, "Setting": settingsOf(i),
		"_count": object{"Message": 0, "Contact": 0, "Chat": 0},
	}
}

func (c *call) fetchInstances() (any, error) {
	named, id, number := c.query("instanceName"), c.query("instanceId"), c.query("number")
	list := []object{}
	for i, err := range c.client.Instances(c.ctx(), client.ListInstancesParams{}) {
		if err != nil {
			return nil, err
		}
		byName := named == "" || cmp.Or(i.ExternalName, i.Name) == named || strings.EqualFold(i.InstanceID, named)
		if byName && (id == "" || strings.EqualFold(i.InstanceID, id)) && (number == "" || i.MessengerID == strings.TrimSuffix(number, personal)) {
			list = append(list, instanceOf(i))
		}
	}
	if asked := named + id + number; asked != "" && len(list) == 0 {
		return nil, refuse(http.StatusNotFound, "Instance \""+cut(asked)+"\" not found")
	}
	return list, nil
}

func (c *call) createInstance() (any, error) {
	named, err := c.fields.need("instanceName")
	if err != nil {
		return nil, err
	}
	if wanted := c.fields.text("integration"); wanted != "" && wanted != integration {
		return nil, refuse(http.StatusNotImplemented, "Recado links devices: leave integration out, or use "+integration)
	}
	change := c.settingsChange()
	if c.fields.text("proxyHost") != "" {
		proxy := fields{}
		for _, part := range []string{"host", "port", "protocol", "username", "password"} {
			proxy[part] = c.fields["proxy"+strings.ToUpper(part[:1])+part[1:]]
		}
		change.Proxy = client.Set(proxyURL(proxy))
	}
	switch found, err := c.named(named); {
	case err != nil:
		return nil, err
	case len(found) > 0:
		return nil, refuse(http.StatusForbidden, "This name \""+cut(named)+"\" is already in use.")
	}
	if c.instance, err = c.client.CreateInstance(c.ctx(), client.NewInstance{Name: named, ExternalName: named}); isCode(err, client.CodeExternalNameTaken) {
		return nil, refuse(http.StatusForbidden, "This name \""+cut(named)+"\" is already in use.")
	} else if err != nil {
		return nil, err
	}
	answer, err := c.arrange(change)
	if err != nil {
		// Nobody knows of an instance that is not as it was asked for.
		_ = c.client.DeleteInstance(c.ctx(), c.id()) // the first error says more
		return nil, err
	}
	return answer, nil
}

// arrange makes a new instance as it was asked for, and answers.
func (c *call) arrange(change client.InstanceChange) (any, error) {
	c.called = cmp.Or(c.instance.ExternalName, c.instance.Name)
	var err error
	if c.instance, err = c.client.ChangeInstance(c.ctx(), c.id(), change); err != nil {
		return nil, err
	}
	key, err := c.client.CreateAPIKey(c.ctx(), client.NewKey{Name: c.called, InstanceIDs: []string{c.id()}, Value: c.fields.text("token")})
	if err != nil {
		return nil, err
	}
	webhook := any(object{})
	if given := c.fields.inner("webhook"); given.text("url") != "" {
		if webhook, err = c.saveWebhook(given); err != nil {
			return nil, err
		}
	}
	answer := object{
		"instance": object{
			"instanceName": c.called, "instanceId": c.id(), "integration": integration,
			"webhookWaBusiness": nil, "accessTokenWaBusiness": "", "status": "connecting",
		},
		"hash": key.Key, "webhook": webhook, "websocket": object{}, "rabbitmq": object{}, "nats": object{}, "sqs": object{}, "settings": settingsOf(c.instance),
	}
	if c.fields.yes("qrcode") {
		if answer["qrcode"], err = c.code(c.fields.text("number")); err != nil {
			return nil, err
		}
	}
	return answer, nil
}

// code is what links the instance: a QR code, and the pairing code of a number.
func (c *call) code(number string) (object, error) {
	shown, err := c.client.GetQRCode(c.ctx(), c.id(), client.GetQRCodeParams{})
	if err != nil {
		return nil, err
	}
	answer := object{"pairingCode": nil, "code": shown.Code, "base64": shown.QRCode, "count": shown.Attempt}
	if number != "" {
		pairing, err := c.client.GetPairingCode(c.ctx(), c.id(), client.NewPairingCode{Phone: strings.TrimSuffix(number, personal)})
		if err != nil {
			return nil, err
		}
		answer["pairingCode"] = pairing.PairingCode
	}
	return answer, nil
}

func (c *call) connect() (any, error) {
	if c.instance.Status == client.StatusConnected {
		return c.connectionState()
	}
	answer, err := c.code(c.query("number"))
	if isCode(err, client.CodeInstanceAlreadyConnected) {
		return c.connectionState()
	}
	return answer, err
}

func (c *call) connectionState() (any, error) {
	now, err := c.client.GetInstance(c.ctx(), c.id())
	if err != nil {
		return nil, err
	}
	return object{"instance": object{"instanceName": cmp.Or(now.ExternalName, now.Name), "state": stateOf(now.Status)}}, nil
}

func (c *call) restart() (any, error) {
	if c.instance.MessengerJID == "" {
		return nil, c.notConnected()
	}
	if err := c.client.RestartInstance(c.ctx(), c.id()); err != nil {
		return nil, err
	}
	return c.connectionState()
}

func (c *call) logout() (any, error) {
	if c.instance.MessengerJID == "" {
		return nil, c.notConnected()
	}
	return done("Instance logged out"), c.client.LogoutInstance(c.ctx(), c.id())
}

func (c *call) deleteInstance() (any, error) {
	return done("Instance deleted"), c.client.DeleteInstance(c.ctx(), c.id())
}

// done is the answer of an operation that only says that it is.
func done(message string) object {
	return object{"status": "SUCCESS", "error": false, "response": object{"message": message}}
}

func (c *call) setPresence() (any, error) {
	presence, err := oneOf(c.fields, "presence", map[string]string{"available": client.PresenceAvailable, "unavailable": client.PresenceUnavailable})
	if err != nil {
		return nil, err
	}
	if c.instance.MessengerJID == "" {
		return nil, c.notConnected()
	}
	return object{"presence": presence}, c.client.SendPresence(c.ctx(), c.id(), client.Presence{To: c.instance.MessengerJID, Presence: presence})
}

// settingsOf are the settings of an instance. Those that the gateway does not have are false.
func settingsOf(i client.Instance) object {
	return object{
		"rejectCall": i.RejectCalls, "msgCall": i.RejectCallsText, "groupsIgnore": i.IgnoreGroups, "alwaysOnline": i.AlwaysOnline,
		"readMessages": i.ReadMessages, "readStatus": i.ReadStatuses, "syncFullHistory": false, "wavoipToken": "",
	}
}

// settingsChange are the settings of a body that the gateway has.
func (c *call) settingsChange() (change client.InstanceChange) {
	change.RejectCalls = client.SetIf(c.fields.optional("rejectCall"))
	change.IgnoreGroups, change.AlwaysOnline = client.SetIf(c.fields.optional("groupsIgnore")), client.SetIf(c.fields.optional("alwaysOnline"))
	change.ReadMessages, change.ReadStatuses = client.SetIf(c.fields.optional("readMessages")), client.SetIf(c.fields.optional("readStatus"))
	if text, given := c.fields["msgCall"].(string); given {
		change.RejectCallsText = client.Set(text)
		if text == "" {
			change.RejectCallsText = client.Null[string]()
		}
	}
	return change
}

func (c *call) setSettings() (any, error) {
	var err error
	if c.instance, err = c.client.ChangeInstance(c.ctx(), c.id(), c.settingsChange()); err != nil {
		return nil, err
	}
	return object{"settings": object{"instanceName": cmp.Or(c.instance.ExternalName, c.instance.Name), "settings": settingsOf(c.instance)}}, nil
}

func (c *call) findSettings() (any, error) { return settingsOf(c.instance), nil }

// proxyURL is the address of a proxy whose parts are given.
func proxyURL(parts fields) string {
	address := url.URL{Scheme: "http", Host: parts.text("host")}
	if protocol := parts.text("protocol"); protocol != "" {
		address.Scheme = protocol
	}
	if port := parts.text("port"); port != "" {
		address.Host += ":" + port
	}
	if user := parts.text("username"); user != "" {
		address.User = url.UserPassword(user, parts.text("password"))
	}
	return address.String()
}

// proxyOf is the proxy of an instance, without its password; nil if there is none.
func proxyOf(i client.Instance) any {
	address, err := url.Parse(i.Proxy)
	if i.Proxy == "" || err != nil {
		return nil
	}
	return object{
		"id": i.InstanceID, "enabled": true, "host": address.Hostname(), "port": address.Port(), "protocol": address.Scheme,
		"username": address.User.Username(), "password": "", "instanceId": i.InstanceID,
		"createdAt": clock.Spelled(i.CreatedAt), "updatedAt": clock.Spelled(i.UpdatedAt),
	}
}

func (c *call) setProxy() (any, error) {
	change := client.InstanceChange{Proxy: client.Null[string]()}
	if c.fields.yes("enabled") {
		if _, err := c.fields.need("host"); err != nil {
			return nil, err
		}
		change.Proxy = client.Set(proxyURL(c.fields))
	}
	var err error
	if c.instance, err = c.client.ChangeInstance(c.ctx(), c.id(), change); err != nil {
		return nil, err
	}
	answer, _ := proxyOf(c.instance).(object)
	if answer == nil {
		answer = object{"enabled": false, "instanceId": c.id()}
	}
	return object{"proxy": answer}, nil
}

func (c *call) findProxy() (any, error) {
	if proxy := proxyOf(c.instance); proxy != nil {
		return proxy, nil
	}
	return nil, refuse(http.StatusNotFound, "Proxy not found")
}
