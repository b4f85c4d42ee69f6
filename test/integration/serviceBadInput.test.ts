import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type Answer,
  exchange,
  type RequestFields,
  runningService,
  type TestService,
} from '../support/processes/runningService.ts'

/** Invalid requests: the status, the error code and the message of each. */
let service: TestService
let sandbox: string
let terminal: string

beforeAll(async () => {
  service = await runningService()
  const created = await service.send('/v1/sandboxes', { body: {} })
  expect(created.status, created.text).toBe(201)
  sandbox = `/v1/sandboxes/${created.json.id}`
  const opened = await service.send(`${sandbox}/pty`, { body: { command: 'cat' } })
  expect(opened.status, opened.text).toBe(201)
  terminal = `${sandbox}/pty/${opened.json.session_id}`
})
afterAll(() => service?.close())

const expectRefusal = (answer: Answer, status: number, code: string, error: string | RegExp) => {
  expect(answer.json, answer.text).toMatchObject({ code, hint: expect.any(String) })
  expect(answer.status).toBe(status)
  if (typeof error === 'string') expect(answer.json.error).toBe(error)
  else expect(answer.json.error).toMatch(error)
}

test('names a sandbox after its id if no name is given', async () => {
  const { json } = await service.send(sandbox)
  expect(json.name).toBe(`sandbox-${json.short_id}`)
  expect(json).toMatchObject({ vcpu: 1, memory_mb: 512, disk_gb: 1, region: 'eu-north', runtime: 'bubblewrap' })
})

describe('fields', () => {
  const wrong: [what: string, path: () => string, sent: RequestFields, error: string][] = [
    [
      'cols 0',
      () => `${terminal}/resize`,
      { body: { cols: 0, rows: 24 } },
      '`cols` must be a whole number from 1 to 1000.',
    ],
    [
      'rows 1001',
      () => `${terminal}/resize`,
      { body: { cols: 80, rows: 1001 } },
      '`rows` must be a whole number from 1 to 1000.',
    ],
    [
      'cols 80.5',
      () => `${sandbox}/pty`,
      { body: { command: 'sh', cols: 80.5 } },
      '`cols` must be a whole number from 1 to 1000.',
    ],
    ['no rows', () => `${terminal}/resize`, { body: { cols: 80 } }, '`rows` is required.'],
    ['no command', () => `${sandbox}/exec`, { body: {} }, '`command` is required.'],
    ['no body', () => `${sandbox}/exec`, { method: 'POST' }, '`command` is required.'],
    ['an empty command', () => `${sandbox}/exec`, { body: { command: '' } }, '`command` must not be empty.'],
    ['a number as command', () => `${sandbox}/exec`, { body: { command: 7 } }, '`command` must be a string.'],
    ['null', () => `${sandbox}/exec`, { body: { command: null } }, '`command` must be a string.'],
    [
      'a timeout of 0',
      () => `${sandbox}/exec`,
      { body: { command: 'true', timeout: 0 } },
      '`timeout` must be more than 0.',
    ],
    [
      'a relative folder',
      () => `${sandbox}/exec`,
      { body: { command: 'true', cwd: 'tmp' } },
      '`cwd` must be an absolute path.',
    ],
    [
      'a wrong name',
      () => `${sandbox}/exec`,
      { body: { command: 'true', env: { 'A-B': 'x' } } },
      '`env.A-B` is not a name that is allowed here.',
    ],
    ['vcpu 5', () => '/v1/sandboxes', { body: { vcpu: 5 } }, '`vcpu` must be a whole number from 1 to 4.'],
    [
      'memory 511',
      () => '/v1/sandboxes',
      { body: { memory_mb: 511 } },
      '`memory_mb` must be a whole number from 512 to 8192.',
    ],
    ['disk 51', () => '/v1/sandboxes', { body: { disk_gb: 51 } }, '`disk_gb` must be a whole number from 1 to 50.'],
    [
      'an unknown region',
      () => '/v1/sandboxes',
      { body: { region: 'moon' } },
      '`region` must be `eu-north` or `us-east`.',
    ],
    ['a blank name', () => '/v1/sandboxes', { body: { name: '  ' } }, '`name` must not be empty.'],
    [
      'a name of 65',
      () => '/v1/sandboxes',
      { body: { name: 'x'.repeat(65) } },
      '`name` must have at most 64 characters.',
    ],
    [
      'a name of two lines',
      () => '/v1/sandboxes',
      { body: { name: 'a\nb' } },
      '`name` must be one line of visible characters.',
    ],
    ['a relative path', () => `${sandbox}/files/read?path=etc/passwd`, {}, '`path` must be absolute.'],
    [
      'path traversal',
      () => `${sandbox}/files/read?path=/tmp/../../etc/shadow`,
      {},
      '`path` must not contain `.` or `..` parts.',
    ],
    [
      'an encoded traversal',
      () => `${sandbox}/files/list?path=%2Ftmp%2F..%2F..`,
      {},
      '`path` must not contain `.` or `..` parts.',
    ],
    ['a NUL in a path', () => `${sandbox}/files/read?path=/tmp/a%00b`, {}, '`path` must not contain a NUL.'],
    ['no path', () => `${sandbox}/files/read`, {}, '`path` is required.'],
    ['two paths', () => `${sandbox}/files/read?path=/a&path=/b`, {}, '`path` must be a string.'],
    [
      'upload to a relative path',
      () => `${sandbox}/files`,
      { body: { path: 'a', content: '' } },
      '`path` must be absolute.',
    ],
    [
      'invalid base64',
      () => `${sandbox}/files`,
      { body: { path: '/tmp/a', content: 'a_b', encoding: 'base64' } },
      '`content` must be standard base64 with padding.',
    ],
    [
      'half a character',
      () => `${sandbox}/files`,
      { body: { path: '/tmp/a', content: '\ud800' } },
      '`content` must be well-formed Unicode text.',
    ],
    [
      'another encoding',
      () => `${sandbox}/files`,
      { body: { path: '/tmp/a', content: '', encoding: 'hex' } },
      '`encoding` must be `utf8` or `base64`.',
    ],
    ['full=maybe', () => `${terminal}/read?full=maybe`, {}, '`full` must be true or false.'],
    ['since=x', () => `${terminal}/read?since=x`, {}, '`since` must be a cursor.'],
    ['wait_ms=60001', () => `${terminal}/read?since=0&wait_ms=60001`, {}, '`wait_ms` must be at most 60000.'],
    ['a key without a name', () => '/v1/auth/api-keys', { body: { name: '' } }, '`name` must not be empty.'],
    [
      'half a character in the name of a key',
      () => '/v1/auth/api-keys',
      { body: { name: '\ud800' } },
      '`name` must not contain control characters.',
    ],
    [
      'half a character in the name of a sandbox',
      () => '/v1/sandboxes',
      { body: { name: 'a\udfff' } },
      '`name` must be one line of visible characters.',
    ],
    [
      'a message of 4097 characters',
      () => '/v1/auth/verify',
      { body: { message: 'x'.repeat(4097), signature: '0x' } },
      '`message` must have at most 4096 characters.',
    ],
    [
      'a signature of 513 characters',
      () => '/v1/auth/verify',
      { body: { message: 'x', signature: 'x'.repeat(513) } },
      '`signature` must have at most 512 characters.',
    ],
    [
      'a refresh token of 1025 characters',
      () => '/v1/auth/refresh',
      { body: { refresh_token: 'x'.repeat(1025) } },
      '`refresh_token` must have at most 1024 characters.',
    ],
  ]
  test.each(wrong)('%s', async (_, path, body, error) => {
    expectRefusal(await service.send(path(), body), 400, 'request/invalid', error)
  })
})

describe('bodies', () => {
  const json = { 'content-type': 'application/json' }

  test('are rejected without being quoted if they are not JSON', async () => {
    const answer = await service.send(`${sandbox}/exec`, { body: '{"command": secret}' })
    expectRefusal(answer, 400, 'request/malformed', 'The body is not valid JSON.')
    const cut = await service.send(`${sandbox}/exec`, { body: '{"command": "secret"' })
    expectRefusal(cut, 400, 'request/malformed', 'The body is not valid JSON (at position 20).')
  })

  test('are rejected before traversal if nested too deeply', async () => {
    for (const levels of [65, 20_000]) {
      const body = `{"command":${'['.repeat(levels)}${']'.repeat(levels)}}`
      const answer = await service.send(`${sandbox}/exec`, { body })
      expectRefusal(answer, 400, 'request/malformed', 'The body is nested more than 64 levels deep.')
    }
  })

  test.each(['[]', '"text"', '7', 'null'])('are rejected if they are %s instead of an object', async (body) => {
    expectRefusal(
      await service.send(`${sandbox}/exec`, { body }),
      400,
      'request/malformed',
      'The body must be a JSON object.',
    )
  })

  test('are rejected if they have another content type', async () => {
    const answer = await service.send(`${sandbox}/exec`, {
      body: 'command=id',
      headers: { 'content-type': 'text/plain' },
    })
    expectRefusal(answer, 415, 'request/media-type', 'The body must be `application/json`.')
  })

  test('are accepted with any content type if empty and not required', async () => {
    const spare = await service.send('/v1/sandboxes', { method: 'POST', headers: json })
    expect(spare.status).toBe(201)
    const path = `/v1/sandboxes/${spare.json.id}`
    expect((await service.send(`${path}/stop`, { method: 'POST', headers: json })).json.status).toBe('stopped')
    expect((await service.send(path, { method: 'DELETE', headers: json })).json.success).toBe(true)
  })

  test.each([
    ['application/x-www-form-urlencoded', undefined],
    ['application/x-www-form-urlencoded', ''],
    ['text/plain;charset=UTF-8', ''],
    ['application/octet-stream', ''],
  ])('are treated as absent if empty, even as %s (%j)', async (type, body) => {
    const answer = await service.send('/v1/auth/nonce', { method: 'POST', body, headers: { 'content-type': type } })
    expect(answer.status, answer.text).toBe(200)
    const needed = await service.send(`${sandbox}/exec`, { method: 'POST', body, headers: { 'content-type': type } })
    expectRefusal(needed, 400, 'request/invalid', '`command` is required.')
  })

  test('are rejected if larger than the path accepts', async () => {
    const answer = await service.send(`${sandbox}/exec`, { body: { command: 'x'.repeat(300 * 1024) } })
    expectRefusal(answer, 413, 'request/too-large', 'The body is too large for this path.')
  })

  test('rejects an upload of one gigabyte before it is sent', async () => {
    const { hostname, port } = new URL(service.url)
    const socket = connect(Number(port), hostname)
    const head = [
      `POST ${sandbox}/files/upload/json HTTP/1.1`,
      `Host: ${hostname}:${port}`,
      `Authorization: Bearer ${service.key}`,
      'Content-Type: application/json',
      `Content-Length: ${1024 ** 3}`,
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n{"path":"/tmp/big","content":"`)
    const answer = await new Promise<string>((resolve, reject) => {
      let text = ''
      socket.on('data', (bytes) => {
        text += bytes.toString()
        if (text.includes('}')) resolve(text)
      })
      socket.on('error', reject)
    })
    socket.destroy()
    expect(answer).toMatch(/^HTTP\/1\.1 413 /)
    expect(answer).toContain('"code":"request/too-large"')
  })

  test('a client that continues sending a rejected body still receives the reason', async () => {
    const content = 'x'.repeat(100 * 1024 * 1024)
    const answer = await service.send(`${sandbox}/files`, { body: { path: '/tmp/big', content } })
    expectRefusal(answer, 413, 'request/too-large', 'The body is too large for this path.')
  })

  test('rejects terminal input larger than the limit', async () => {
    const answer = await service.send(`${terminal}/write`, { body: { input: 'x'.repeat(1024 * 1024 + 1) } })
    expectRefusal(answer, 413, 'request/too-large', '`input` must have at most 1048576 bytes.')
  })
})

describe('invalid targets and states', () => {
  test('rejects an unknown path', async () => {
    expectRefusal(await service.send('/v2/sandboxes'), 404, 'request/not-found', 'There is nothing at /v2/sandboxes.')
  })

  test('rejects an invalid percent escape', async () => {
    expectRefusal(await service.send('/v1/%zz'), 400, 'request/invalid', 'The URL has an invalid percent-encoding.')
  })

  test('rejects an id of 5000 characters', async () => {
    const answer = await service.send(`/v1/sandboxes/${'a'.repeat(5000)}`)
    expectRefusal(answer, 404, 'request/not-found', /^There is nothing at \/v1\/sandboxes\/a+\.$/)
  })

  test('rejects an unknown runtime', async () => {
    const answer = await service.send('/v1/sandboxes', { body: { runtime: 'vax' } })
    expectRefusal(
      answer,
      400,
      'runtime/unknown',
      '`vax` is not a runtime of this service. Available runtimes: `bubblewrap`.',
    )
  })

  test('reports a missing file and a file listed as a folder', async () => {
    const missing = await service.send(`${sandbox}/files/read?path=/tmp/none`)
    expect(missing.status).toBe(404)
    expect(missing.json.code).toBe('file/not-found')
    await service.send(`${sandbox}/files`, { body: { path: '/tmp/plain', content: 'x' } })
    const listed = await service.send(`${sandbox}/files/list?path=/tmp/plain`)
    expect(listed.status).toBe(400)
    expect(listed.json.code).toBe('file/not-a-folder')
  })

  test('an exited terminal accepts no further input or resize', async () => {
    const { json } = await service.send(`${sandbox}/pty`, { body: { command: 'cat' } })
    const path = `${sandbox}/pty/${json.session_id}`
    expect((await service.send(path, { method: 'DELETE' })).json).toMatchObject({ success: true, state: 'exited' })
    for (const body of [
      { at: 'write', body: { input: 'x' } },
      { at: 'resize', body: { cols: 1, rows: 1 } },
    ]) {
      const answer = await service.send(`${path}/${body.at}`, { body: body.body })
      expect(answer.status).toBe(409)
      expect(answer.json.code).toBe('terminal/exited')
    }
    expect((await service.send(`${path}/read`)).json.state).toBe('exited')
  })

  test('a stopped sandbox runs no command until it is started', async () => {
    const { json } = await service.send('/v1/sandboxes', { body: { name: 'resting' } })
    const path = `/v1/sandboxes/${json.id}`
    await service.send(`${path}/stop`, { method: 'POST' })
    for (const [operation, body] of [
      ['exec', { command: 'true' }],
      ['pty', { command: 'cat' }],
      ['files', { path: '/tmp/a', content: '' }],
    ] as const) {
      expectRefusal(
        await service.send(`${path}/${operation}`, { body }),
        409,
        'sandbox/not-running',
        'The sandbox resting is not running: it is stopped.',
      )
    }
    expect((await service.send(`${path}/start`, { method: 'POST' })).json).toMatchObject({
      status: 'running',
      status_reason: null,
      started_at: expect.any(String),
    })
    expect((await service.send(`${path}/exec`, { body: { command: 'echo up' } })).json.stdout).toBe('up\n')
    await service.send(path, { method: 'DELETE' })
  })
})

test('a service without a host returns 503 for new sandboxes but still serves lists', async () => {
  const lonely = await runningService({ host: 'none' })
  try {
    expectRefusal(
      await exchange(lonely.url, '/v1/sandboxes', { key: lonely.key, body: {} }),
      503,
      'host/unavailable',
      "The sandbox host isn't responding.",
    )
    expect((await lonely.send('/v1/sandboxes')).json.count).toBe(0)
    expect((await lonely.send('/health')).status).toBe(200)
  } finally {
    await lonely.close()
  }
})
