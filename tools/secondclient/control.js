// The sandbox's control API, as far as the checks need it.

/** A sandbox, by the address of its control API's server, as http://127.0.0.1:8090. */
export class Sandbox {
  constructor(address) {
    this.base = new URL('/sandbox/api', address).href
  }

  async call(method, path, body) {
    const response = await fetch(this.base + path, {
      method,
      headers: body === undefined ? {} : { 'Content-Type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(10_000)
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }

  trust() {
    return this.call('GET', '/trust')
  }

  phone(number) {
    return this.call('GET', `/phones/${number}`)
  }

  update(number, change) {
    return this.call('PUT', `/phones/${number}`, change)
  }

  scan(number, qrCode) {
    return this.call('POST', `/phones/${number}/scan`, { qrCode })
  }

  enterCode(number, code) {
    return this.call('POST', `/phones/${number}/pairing-code`, { code })
  }

  unlink(number) {
    return this.call('POST', `/phones/${number}/unlink`, {})
  }

  disconnect(number) {
    return this.call('POST', '/faults/disconnect', { number })
  }

  /** Sends a text from a phone and returns the message's id. */
  async send(number, to, text) {
    return this.post(number, { to, type: 'text', text })
  }

  /** Sends a message of any type from a phone and returns its id. */
  async post(number, message) {
    return (await this.call('POST', `/phones/${number}/messages`, message)).messageId
  }

  /** Shows those who have subscribed whether a phone is online. */
  presence(number, presence) {
    return this.call('POST', `/phones/${number}/presence`, { presence })
  }

  /** Makes the author of a message change its text or caption. */
  edit(number, id, text) {
    return this.call('POST', `/phones/${number}/messages/${id}/edit`, { text })
  }

  react(number, id, reaction) {
    return this.call('POST', `/phones/${number}/messages/${id}/reaction`, { reaction })
  }

  /** Makes a group and returns it. */
  createGroup(subject, owner, ...numbers) {
    return this.call('POST', '/groups', { subject, owner, participants: numbers.map((number) => ({ number })) })
  }

  /** Votes in a poll that a phone shows. */
  vote(number, id, ...options) {
    return this.call('POST', `/phones/${number}/messages/${id}/vote`, { options })
  }

  /** Responds to a calendar event that a phone shows: going, not_going or maybe. */
  respond(number, id, response, extraGuests = 0) {
    return this.call('POST', `/phones/${number}/messages/${id}/response`, { response, extraGuests })
  }

  /** Makes a phone pin a message for some seconds; 0 unpins it. */
  pin(number, id, seconds) {
    return this.call('PUT', `/phones/${number}/messages/${id}/pin`, { seconds })
  }

  /** Makes the owner of a phone star a message, or take the star away. */
  star(number, id, starred) {
    return this.call('PUT', `/phones/${number}/messages/${id}/star`, { starred })
  }

  /** Makes the owner of a phone delete a message from the account's own devices. */
  deleteForMe(number, id) {
    return this.call('DELETE', `/phones/${number}/messages/${id}/for-me`)
  }

  /** Returns what is set in a group beside its members. */
  groupSettings(id) {
    return this.call('GET', `/groups/${id}/settings`)
  }

  changeGroup(id, change) {
    return this.call('PUT', `/groups/${id}`, change)
  }

  /** Makes a phone follow the code of a link to a group. */
  join(number, invite) {
    return this.call('POST', `/phones/${number}/join`, { invite })
  }

  group(id) {
    return this.call('GET', `/groups/${id}`)
  }

  /** Returns what a phone saw besides messages. */
  async activity(number) {
    return (await this.call('GET', `/phones/${number}/activity`)).data
  }

  /** Returns the messages that a phone shows, oldest first. */
  async messages(number) {
    return (await this.call('GET', `/phones/${number}/messages`)).data
  }

  /** Lets a phone call somebody, and returns the ID of the call. */
  async ring(number, to) {
    return (await this.call('POST', `/phones/${number}/call`, { to })).callId
  }
}
