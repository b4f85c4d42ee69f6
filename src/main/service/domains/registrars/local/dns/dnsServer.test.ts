import { execFile } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect } from 'node:net'
import { promisify } from 'node:util'
import { decode, encode } from 'dns-packet'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { normalizeRecord } from '#shared/dns/dnsRecord.ts'
import { type DnsServer, startDnsServer } from './dnsServer.ts'
import type { Zone } from './zoneAnswer.ts'

const run = promisify(execFile)
const record = (type: Parameters<typeof normalizeRecord>[1]['type'], host: string, value: string, distance?: number) =>
  normalizeRecord('example.test', { type, host, value, distance })
const long = 'v=DKIM1; k=rsa; p='.concat('abc"\\'.repeat(120))
const zone: Zone = {
  name: 'example.test',
  serial: 4_294_967_297,
  nameservers: ['ns1.registry.test', 'ns2.registry.test'],
  records: [
    record('A', '@', '192.0.2.1'),
    record('A', '@', '192.0.2.2'),
    record('AAAA', 'www', '2001:db8::1'),
    record('CNAME', 'shop', 'www.example.test'),
    record('CNAME', 'away', 'elsewhere.example.net'),
    record('CNAME', 'dead', 'nowhere.example.test'),
    record('CNAME', 'ring', 'ring2.example.test'),
    record('CNAME', 'ring2', 'ring.example.test'),
    record('MX', '@', 'mail.example.test', 5),
    record('TXT', '_domainkey', long),
    record('SRV', '_sip._tcp', '5 5060 sip.example.test', 1),
    record('CAA', '@', '0 issue "letsencrypt.org"'),
    record('A', '*.dev', '192.0.2.9'),
    record('TXT', 'deep.under.tree', 'x'),
    record('NS', 'lab', 'ns.lab.example.test'),
    record('A', 'ns.lab', '192.0.2.53'),
    ...Array.from({ length: 60 }, (_, number) => record('A', 'many', `198.51.100.${number}`)),
  ],
}

let server: DnsServer
beforeAll(async () => {
  server = await startDnsServer({ host: '127.0.0.1', port: 0 }, async (name) =>
    name === zone.name || name.endsWith(`.${zone.name}`) ? zone : undefined,
  )
})
afterAll(() => server?.close())

async function dig(...parameters: string[]): Promise<string> {
  const { stdout } = await run('dig', ['@127.0.0.1', '-p', String(server.port), '+tries=1', '+time=5', ...parameters])
  return stdout
}
const short = async (...parameters: string[]) => (await dig('+short', ...parameters)).trim().split('\n')

test('the delv resolver reads every record type', async () => {
  const delv = async (name: string, type: string) => {
    const options = ['@127.0.0.1', '-p', String(server.port), '-i', '+short']
    const { stdout } = await run('delv', [...options, name, type])
    return stdout.trim().split('\n').sort()
  }
  expect(await delv('example.test', 'A')).toEqual(['192.0.2.1', '192.0.2.2'])
  expect(await delv('www.example.test', 'AAAA')).toEqual(['2001:db8::1'])
  expect(await delv('shop.example.test', 'CNAME')).toEqual(['www.example.test.'])
  expect(await delv('example.test', 'MX')).toEqual(['5 mail.example.test.'])
  expect((await delv('deep.under.tree.example.test', 'TXT'))[0]).toBe('"x"')
  expect(await delv('_sip._tcp.example.test', 'SRV')).toEqual(['1 5 5060 sip.example.test.'])
  expect(await delv('example.test', 'CAA')).toEqual(['0 issue "letsencrypt.org"'])
  expect(await delv('example.test', 'NS')).toEqual(['ns1.registry.test.', 'ns2.registry.test.'])
  expect((await delv('many.example.test', 'A')).length).toBe(60) // over TCP
})

describe('dig', () => {
  test('reads every type', async () => {
    expect((await short('example.test', 'A')).sort()).toEqual(['192.0.2.1', '192.0.2.2'])
    expect(await short('www.example.test', 'AAAA')).toEqual(['2001:db8::1'])
    expect(await short('shop.example.test', 'AAAA')).toEqual(['www.example.test.', '2001:db8::1'])
    expect(await short('example.test', 'MX')).toEqual(['5 mail.example.test.'])
    expect(await short('_sip._tcp.example.test', 'SRV')).toEqual(['1 5 5060 sip.example.test.'])
    expect(await short('example.test', 'CAA')).toEqual(['0 issue "letsencrypt.org"'])
    expect((await short('example.test', 'NS')).sort()).toEqual(['ns1.registry.test.', 'ns2.registry.test.'])
    expect(await short('example.test', 'SOA')).toEqual([
      'ns1.registry.test. hostmaster.example.test. 1 3600 600 604800 300',
    ])
  })

  test('reads a text of more than 255 bytes unchanged with its quotes', async () => {
    const [text = ''] = await short('_domainkey.example.test', 'TXT')
    const pieces = [...text.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, piece = '']) => piece.replace(/\\(.)/g, '$1'))
    expect(pieces.length).toBeGreaterThan(1)
    expect(pieces.join('')).toBe(long)
  })

  test('gets a negative response with its TTL for a missing record', async () => {
    const nothing = await dig('nobody.example.test')
    expect(nothing).toMatch(/status: NXDOMAIN.*\n.*flags: qr aa/)
    expect(nothing).toContain('AUTHORITY: 1')
    for (const [name, type] of [
      ['www.example.test', 'A'],
      ['under.tree.example.test', 'A'],
      ['tree.example.test', 'TXT'],
    ] as const) {
      const otherOutput = await dig(name, type)
      expect(otherOutput).toMatch(/status: NOERROR.*\n.*flags: qr aa/)
      expect(otherOutput).toContain('ANSWER: 0, AUTHORITY: 1')
    }
  })

  test('follows an alias to the end of the zone', async () => {
    expect(await short('away.example.test', 'A')).toEqual(['elsewhere.example.net.'])
    expect(await dig('dead.example.test', 'A')).toMatch(/status: NXDOMAIN[\s\S]*ANSWER: 1, AUTHORITY: 1/)
    expect(await short('away.example.test', 'CNAME')).toEqual(['elsewhere.example.net.'])
    expect(await dig('ring.example.test', 'A')).toContain('status: NOERROR')
  })

  test('resolves names below a wildcard and no others', async () => {
    expect(await short('a.dev.example.test', 'A')).toEqual(['192.0.2.9'])
    expect(await short('b.a.dev.example.test', 'A')).toEqual(['192.0.2.9'])
    expect(await dig('dev.example.test', 'A')).toContain('status: NOERROR')
    expect(await dig('a.www.example.test', 'A')).toContain('status: NXDOMAIN')
    expect(await dig('a.dev.example.test', 'MX')).toMatch(/status: NOERROR[\s\S]*ANSWER: 0, AUTHORITY: 1/)
  })

  test('gets a referral for a subzone on another server', async () => {
    const handed = await dig('+norec', 'a.b.lab.example.test', 'A')
    expect(handed).not.toMatch(/flags: qr aa/)
    expect(handed).toMatch(/lab\.example\.test\.\s+\d+\s+IN\s+NS\s+ns\.lab\.example\.test\./)
    expect(handed).toMatch(/ns\.lab\.example\.test\.\s+\d+\s+IN\s+A\s+192\.0\.2\.53/)
  })

  test('retries over TCP when the response is too large for UDP', async () => {
    expect(await short('many.example.test', 'A')).toHaveLength(60)
    const cut = await dig('+ignore', '+bufsize=512', 'many.example.test', 'A')
    expect(cut).toMatch(/flags: qr aa tc/)
    expect(cut).toContain('ANSWER: 0')
    expect(await dig('+noedns', '+ignore', 'many.example.test', 'A')).toMatch(/flags: qr aa tc/)
    expect(await short('+tcp', '+keepopen', 'example.test', 'MX', 'www.example.test', 'AAAA')).toHaveLength(2)
  })

  test('is refused for unsupported queries and foreign zones', async () => {
    expect(await dig('example.com', 'A')).toContain('status: REFUSED')
    expect(await dig('example.test', 'ANY')).toContain('status: REFUSED')
    expect(await dig('+tcp', 'example.test', 'AXFR')).toMatch(/Transfer failed|REFUSED/)
    expect(await dig('example.test', 'CH', 'TXT')).toContain('status: REFUSED')
    expect(await dig('+opcode=NOTIFY', 'example.test', 'SOA')).toContain('status: NOTIMP')
    expect(await dig('+edns=1', '+noednsnegotiation', 'example.test', 'A')).toContain('status: BADVERS')
  })

  test('gets a name in the case of its question', async () => {
    expect(await dig('eXaMPle.TeSt', 'MX')).toMatch(/ANSWER SECTION:\neXaMPle\.TeSt\./)
  })
})

describe('unusual DNS messages', () => {
  async function sendOverUdp(message: Buffer): Promise<Buffer> {
    const socket = createSocket('udp4')
    const said = once(socket, 'message') as Promise<[Buffer]>
    socket.send(message, server.port, '127.0.0.1')
    const [answer] = await said
    socket.close()
    return answer
  }
  const question = encode({ type: 'query', id: 7, questions: [{ type: 'A', name: 'example.test' }] })

  test('get a format error or no reply if malformed, and the server continues', async () => {
    const header = question.subarray(0, 12)
    for (const body of ['', '\xc0\x0c\x00\x01\x00\x01', '\x3f', '\xff'.repeat(300)]) {
      const answer = await sendOverUdp(Buffer.concat([header, Buffer.from(body, 'latin1')]))
      expect([answer.readUInt16BE(0), answer.readUInt16BE(2) & 0x800f]).toEqual([7, 0x8001])
    }
    const socket = createSocket('udp4')
    const answers: Buffer[] = []
    socket.on('message', (answer) => answers.push(answer))
    const reply = Buffer.from(question)
    reply.writeUInt8(0x80, 2)
    for (const silent of [Buffer.from('x'), reply, question]) {
      socket.send(silent, server.port, '127.0.0.1')
    }
    await once(socket, 'message')
    socket.close()
    expect(answers).toHaveLength(1)
    expect(decode(answers[0] ?? Buffer.alloc(0)).answers).toHaveLength(2)
  })

  test('with two questions get a format error', async () => {
    const questions = [
      { type: 'A' as const, name: 'example.test' },
      { type: 'MX' as const, name: 'example.test' },
    ]
    const answer = await sendOverUdp(encode({ type: 'query', id: 9, questions }))
    expect(answer.readUInt16BE(2) & 0xf).toBe(1)
  })

  test('over TCP may arrive in chunks or several at a time', async () => {
    const socket = connect(server.port, '127.0.0.1')
    const length = Buffer.alloc(2)
    length.writeUInt16BE(question.length)
    const both = Buffer.concat([length, question, length, question])
    socket.write(both.subarray(0, 5))
    socket.write(both.subarray(5))
    let received = Buffer.alloc(0)
    const answers: Buffer[] = []
    for await (const piece of socket) {
      received = Buffer.concat([received, piece as Buffer])
      while (received.length > 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const end = 2 + received.readUInt16BE(0)
        answers.push(received.subarray(2, end))
        received = received.subarray(end)
      }
      if (answers.length === 2) break
    }
    socket.destroy()
    expect(answers.map((it) => decode(it).answers?.length)).toEqual([2, 2])
  })
})
