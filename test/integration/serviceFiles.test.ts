import { createHash, randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { request as send } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { uploadLimits } from '#shared/contract/uploads.ts'
import { eventually, until } from '../support/assertions/eventually.ts'
import { secondAccount } from '../support/fixtures/secondAccount.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { type Answer, type Json, runningService, type TestService } from '../support/processes/runningService.ts'

let clockAheadMs = 0
let service: TestService
let id: string
let files: string

beforeAll(async () => {
  service = await runningService({ now: () => Date.now() + clockAheadMs })
  const { json } = await service.send('/v1/sandboxes', { body: { name: 'files', disk_gb: 1 } })
  id = json.id
  files = `/v1/sandboxes/${id}/files`
})
afterAll(() => service?.close())

async function bash(command: string): Promise<string> {
  const { json } = await service.send(`/v1/sandboxes/${id}/exec`, { body: { command } })
  expect(json.exit_code, json.stderr).toBe(0)
  return json.stdout
}

const toQuery = (path: string): string => `?path=${encodeURIComponent(path)}`
const begin = (body: object): Promise<Answer> => service.send(`${files}/uploads`, { body })

async function begun(body: object): Promise<string> {
  const { status, json } = await begin(body)
  expect(status, JSON.stringify(json)).toBe(201)
  return json.upload_id
}

const append = (uploadId: string, offset: number | string, body: string, more: Record<string, string> = {}) =>
  service.send(`${files}/uploads/${uploadId}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/octet-stream', 'upload-offset': String(offset), ...more },
    body,
  })

async function download(path: string, headers: Record<string, string> = {}) {
  const answer = await send(`${service.url}${files}/${path}`, {
    headers: { authorization: `Bearer ${service.key}`, ...headers },
  })
  return { status: answer.statusCode, headers: answer.headers, bytes: Buffer.from(await answer.body.arrayBuffer()) }
}

describe('uploads', () => {
  test('arrive in chunks, resume after a restart and appear at their path when complete', async () => {
    const uploadId = await begun({ path: '/srv/new/ü "x".txt', size: 10, modified_at: '2020-01-02T03:04:05Z' })
    expect((await append(uploadId, 0, 'hello')).json).toMatchObject({ offset: 5, complete: false, size: 10 })
    expect(await bash('ls /srv/new')).toBe('')
    await service.restart()
    const { json } = await service.send(`${files}/uploads/${uploadId}`)
    expect(json).toMatchObject({ offset: 5, path: '/srv/new/ü "x".txt', chunk_bytes: uploadLimits.chunkBytes })
    const last = await append(uploadId, 5, 'world')
    expect(last.json).toMatchObject({ offset: 10, complete: true })
    expect(last.headers['upload-offset']).toBe('10')
    expect(await bash('cd /srv/new; ls -A; cat *; TZ=UTC stat -c "%y %a" *')).toBe(
      'ü "x".txt\nhelloworld2020-01-02 03:04:05.000000000 +0000 644\n',
    )
    expect((await append(uploadId, 10, '')).json.complete).toBe(true)
  })

  test('reject a wrong offset with the correct one and reject excess bytes', async () => {
    const uploadId = await begun({ path: '/srv/offset', size: 6 })
    await append(uploadId, 0, 'abc')
    for (const offset of [0, 4, 6]) {
      const answer = await append(uploadId, offset, 'def')
      expect(answer.status).toBe(409)
      expect(answer.json).toMatchObject({ code: 'upload/offset', detail: '3' })
      expect(answer.headers['upload-offset']).toBe('3')
    }
    for (const offset of ['', '-1', 'x', '1e1']) expect((await append(uploadId, offset, 'x')).status).toBe(400)
    expect((await append(uploadId, 3, 'defg')).json.code).toBe('request/invalid')
    expect((await append(uploadId, 3, '{}', { 'content-type': 'application/json' })).status).toBe(415)
    expect((await append(uploadId, 3, 'def')).json.complete).toBe(true)
    expect(await bash('cat /srv/offset')).toBe('abcdef')
  })

  test('with no bytes complete immediately', async () => {
    expect((await begin({ path: '/srv/empty', size: 0 })).json).toMatchObject({ offset: 0, complete: true })
    expect(await bash('stat -c %s /srv/empty')).toBe('0\n')
  })

  test('retain received bytes when the connection drops', async () => {
    const uploadId = await begun({ path: '/srv/broken', size: 20_000_000 })
    const content = randomBytes(20_000_000)
    const controller = new AbortController()
    const half = async function* () {
      yield content.subarray(0, 9_000_000)
      await until('a piece to be kept', async () => {
        return (await service.send(`${files}/uploads/${uploadId}`)).json.offset >= 8 * 1024 * 1024
      })
      controller.abort()
      yield content.subarray(9_000_000)
    }
    const headers = { authorization: `Bearer ${service.key}`, 'content-type': 'application/octet-stream' }
    const url = `${service.url}${files}/uploads/${uploadId}`
    await expect(
      send(url, {
        method: 'PATCH',
        headers: { ...headers, 'upload-offset': '0' },
        body: Readable.from(half()),
        signal: controller.signal,
      }),
    ).rejects.toThrow()
    let offset = 0
    await eventually(async () => {
      offset = (await service.send(`${files}/uploads/${uploadId}`)).json.offset
      const answer = await send(url, {
        method: 'PATCH',
        headers: { ...headers, 'upload-offset': String(offset) },
        body: content.subarray(offset),
      })
      expect(await answer.body.json()).toMatchObject({ complete: true })
    })
    expect(offset).toBeGreaterThanOrEqual(8 * 1024 * 1024)
    expect((await download(`content${toQuery('/srv/broken')}`)).bytes.equals(content)).toBe(true)
  })

  test('replace a file only on request, preserving its mode and following a symlink', async () => {
    await bash('cd /srv; echo old > there; chmod 750 there; ln -s there link; mkdir folder')
    expect((await begin({ path: '/srv/there', size: 3 })).json.code).toBe('file/exists')
    expect((await begin({ path: '/srv/folder', size: 3, replace: true })).json.code).toBe('file/not-a-file')
    const { json: state } = await service.send(`${files}/stat${toQuery('/srv/there')}`)
    const uploadId = await begun({ path: '/srv/link', size: 3, replace: true, if_version: state.version })
    expect((await append(uploadId, 0, 'new')).json.complete).toBe(true)
    expect(await bash('cd /srv; cat there; readlink link; stat -c %a there')).toBe('newthere\n750\n')
    const stale = await begin({ path: '/srv/there', size: 3, replace: true, if_version: state.version })
    expect(stale.json.code).toBe('file/changed')
    const { json: now } = await service.send(`${files}/stat${toQuery('/srv/there')}`)
    const late = await begun({ path: '/srv/there', size: 4, replace: true, if_version: now.version })
    await bash('echo between > /srv/there')
    expect((await append(late, 0, 'mine')).json.code).toBe('file/changed')
    expect(await bash('cat /srv/there')).toBe('between\n')
    await service.send(`${files}/uploads/${late}`, { method: 'DELETE' })
    expect(await bash('cd /srv; ls -A | grep -c part || true')).toBe('0\n')
  })

  test('verify the content against a given hash', async () => {
    const sha256 = createHash('sha256').update('right').digest('hex')
    const wrong = await begun({ path: '/srv/hash', size: 5, sha256 })
    expect((await append(wrong, 0, 'wrong')).json.code).toBe('upload/checksum')
    expect((await service.send(`${files}/uploads/${wrong}`)).json.code).toBe('upload/not-found')
    const right = await begun({ path: '/srv/hash', size: 5, sha256 })
    expect((await append(right, 0, 'right')).json.complete).toBe(true)
  })

  test('are cancelled, expire after a day and end when their partial file is deleted', async () => {
    const called = await begun({ path: '/tmp/off/called', size: 5 })
    await append(called, 0, 'abc')
    expect((await service.send(`${files}/uploads/${called}`, { method: 'DELETE' })).status).toBe(200)
    expect((await append(called, 3, 'de')).json.code).toBe('upload/not-found')
    const lostUpload = await begun({ path: '/tmp/off/lost', size: 5 })
    await append(lostUpload, 0, 'abc')
    await bash('rm /tmp/off/.upl*')
    expect((await append(lostUpload, 3, 'de')).json.code).toBe('upload/not-found')
    await begun({ path: '/tmp/off/old', size: 5 })
    expect(await bash('ls -A /tmp/off | wc -l')).toBe('1\n')
    clockAheadMs += uploadLimits.ttlMs + 1000
    await service.restart()
    await eventually(async () => expect(await bash('ls -A /tmp/off | wc -l')).toBe('0\n'))
  })

  test('are limited in number and scoped to a sandbox', async () => {
    const ids: string[] = []
    for (let count = 0; count < uploadLimits.perSandbox; count++) {
      const { status, json } = await begin({ path: `/tmp/many/${count}`, size: 1 })
      if (status === 201) ids.push(json.upload_id)
    }
    expect((await begin({ path: '/tmp/many/more', size: 1 })).json.code).toBe('upload/too-many')
    const { json: otherSandbox } = await service.send('/v1/sandboxes', { body: { name: 'other' } })
    const elsewhere = await service.send(`/v1/sandboxes/${otherSandbox.id}/files/uploads/${ids[0]}`)
    expect(elsewhere.json.code).toBe('upload/not-found')
    const { key } = secondAccount(service.dataDir)
    expect((await service.send(`${files}/uploads/${ids[0]}`, { key })).json.code).toBe('sandbox/not-found')
    for (const uploadId of ids) await service.send(`${files}/uploads/${uploadId}`, { method: 'DELETE' })
    await service.send(`/v1/sandboxes/${otherSandbox.id}/stop`, { method: 'POST' })
    const stopped = await service.send(`/v1/sandboxes/${otherSandbox.id}/files/uploads`, {
      body: { path: '/x', size: 1 },
    })
    expect(stopped.json.code).toBe('sandbox/not-running')
    await service.send(`/v1/sandboxes/${otherSandbox.id}`, { method: 'DELETE' })
  })

  test.each([
    [{ size: 1 }, 'path'],
    [{ path: 'relative', size: 1 }, 'path'],
    [{ path: '/../etc/x', size: 1 }, 'path'],
    [{ path: '/tmp/x' }, 'size'],
    [{ path: '/tmp/x', size: -1 }, 'size'],
    [{ path: '/tmp/x', size: 50 * 1024 ** 3 + 1 }, 'size'],
    [{ path: '/tmp/x', size: 1, sha256: 'x' }, 'sha256'],
    [{ path: '/tmp/x', size: 1, modified_at: 'yesterday' }, 'modified_at'],
  ])('are rejected with %j', async (body, field) => {
    const { status, json } = await begin(body)
    expect(status).toBe(400)
    expect(json.error).toContain(`\`${field}\``)
  })

  test('fail on a full disk without data loss and resume when space is available', async (context) => {
    const { json: sandbox } = await service.send(`/v1/sandboxes/${id}`)
    if (!sandbox.enforced.disk) context.skip('this machine gives sandboxes no disk of their own')
    await bash('echo kept > /srv/kept; fallocate -l $(df --output=avail -B1 /srv | tail -1) /srv/fill || true')
    await bash('cat /dev/zero > /srv/fill2 2>/dev/null || true')
    const answer = await begin({ path: '/srv/kept', size: 1_000_000, replace: true })
    const uploadId = answer.json.upload_id
    const refused = uploadId ? await append(uploadId, 0, 'x'.repeat(1_000_000)) : answer
    expect([refused.status, refused.json.code]).toEqual([507, 'file/no-space'])
    expect(await bash('cat /srv/kept; rm /srv/fill /srv/fill2')).toBe('kept\n')
    const again = uploadId ?? (await begun({ path: '/srv/kept', size: 1_000_000, replace: true }))
    expect((await append(again, 0, 'x'.repeat(1_000_000))).json.complete).toBe(true)
  })
})

describe('downloads', () => {
  test('return bytes and ranges without content that a browser would execute', async () => {
    const html = '<script>alert(1)</script>'
    await bash(`printf '%s' '${html}' > '/srv/p ü.html'`)
    const whole = await download(`content${toQuery('/srv/p ü.html')}`)
    expect(whole.status).toBe(200)
    expect(whole.bytes.toString()).toBe(html)
    expect(whole.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': String(html.length),
      'content-disposition': `attachment; filename="p _.html"; filename*=UTF-8''p%20%C3%BC.html`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining('sandbox'),
      'accept-ranges': 'bytes',
    })
    const etag = String(whole.headers.etag)
    const range = await download(`content${toQuery('/srv/p ü.html')}`, { range: 'bytes=8-', 'if-range': etag })
    expect([range.status, range.bytes.toString(), range.headers['content-range']]).toEqual([
      206,
      html.slice(8),
      `bytes 8-${html.length - 1}/${html.length}`,
    ])
    expect((await download(`content${toQuery('/srv/p ü.html')}`, { 'if-none-match': etag })).status).toBe(304)
    await bash(`printf other > '/srv/p ü.html'`)
    const changed = await download(`content${toQuery('/srv/p ü.html')}`, { range: 'bytes=2-', 'if-range': etag })
    expect([changed.status, changed.bytes.toString()]).toEqual([200, 'other'])
    const beyond = await download(`content${toQuery('/srv/p ü.html')}`, { range: 'bytes=9-' })
    expect([beyond.status, beyond.headers['content-range']]).toEqual([416, 'bytes */5'])
    const head = await service.send(`${files}/content${toQuery('/srv/p ü.html')}`, { method: 'HEAD' })
    expect([head.status, head.headers['content-length'], head.text]).toEqual([200, '5', ''])
  })

  test('report files that cannot be downloaded', async () => {
    await bash('mkfifo /srv/fifo')
    const code = async (path: string) => JSON.parse((await download(path)).bytes.toString()).code
    expect(await code(`content${toQuery('/srv')}`)).toBe('file/not-a-file')
    expect(await code(`content${toQuery('/srv/fifo')}`)).toBe('file/not-a-file')
    expect(await code(`content${toQuery('/dev/zero')}`)).toBe('file/not-a-file')
    expect(await code(`content${toQuery('/srv/none')}`)).toBe('file/not-found')
    expect(await code('content')).toBe('request/invalid')
    expect(await code(`archive${toQuery('/srv/fifo')}`)).toBe('file/not-a-folder')
    expect(await code(`archive${toQuery('/')}`)).toBe('file/path')
    expect(await code(`archive${toQuery('/srv')}&format=zip`)).toBe('request/invalid')
  })

  test('abort when the file changes during the transfer', async () => {
    await bash('head -c 60000000 /dev/zero > /srv/changing')
    const answer = await send(`${service.url}${files}/content${toQuery('/srv/changing')}`, {
      headers: { authorization: `Bearer ${service.key}` },
    })
    await bash('echo x >> /srv/changing')
    await expect(answer.body.arrayBuffer()).rejects.toThrow()
    await bash('rm /srv/changing')
  })

  test('return a folder as an archive', async () => {
    await bash('mkdir -p /srv/tree/deep; cd /srv/tree; echo a > a; echo b > deep/b; ln -s a link')
    const { headers, bytes } = await download(`archive${toQuery('/srv/tree')}`)
    expect(headers['content-disposition']).toContain('filename="tree.tar.gz"')
    const path = `/tmp/back.tar.gz`
    const content = bytes.toString('base64')
    await service.send(`${files}`, { body: { path, content, encoding: 'base64' } })
    expect(await bash('cd /tmp; tar -xzf back.tar.gz; diff -r --no-dereference /tmp/tree /srv/tree && echo same')).toBe(
      'same\n',
    )
  })

  test('transfer 200 MB both ways unchanged without buffering them', async () => {
    const size = 200_000_000
    const local = join(temporaryFolder('large'), 'file')
    const handle = await open(local, 'w')
    const hash = createHash('sha256')
    for (let offset = 0; offset < size; offset += 10_000_000) {
      const piece = randomBytes(10_000_000)
      hash.update(piece)
      await handle.write(piece)
    }
    await handle.close()
    const sha256 = hash.digest('hex')
    const headers = { authorization: `Bearer ${service.key}` }
    const uploadId = await begun({ path: '/srv/large', size })
    let maxBytes = 0
    const watch = setInterval(() => {
      maxBytes = Math.max(maxBytes, process.memoryUsage().arrayBuffers)
    }, 20)
    try {
      let json: Json
      for (let start = 0; start < size; start += uploadLimits.maxChunkBytes) {
        const end = Math.min(size, start + uploadLimits.maxChunkBytes) - 1
        const answer = await send(`${service.url}${files}/uploads/${uploadId}`, {
          method: 'PATCH',
          headers: { ...headers, 'content-type': 'application/octet-stream', 'upload-offset': String(start) },
          body: createReadStream(local, { start, end }),
        })
        json = await answer.body.json()
      }
      expect(json).toMatchObject({ complete: true, offset: size })
      const received = createHash('sha256')
      const answer = await send(`${service.url}${files}/content${toQuery('/srv/large')}`, { headers })
      for await (const piece of answer.body) received.update(piece)
      expect(received.digest('hex')).toBe(sha256)
      expect(await bash('sha256sum < /srv/large')).toContain(sha256)
      // Memory of service, host and client together, including uncollected garbage.
      expect(maxBytes).toBeLessThan(size)
    } finally {
      clearInterval(watch)
      await bash('rm -f /srv/large')
    }
  })
})

describe('trees', () => {
  test('are created, moved, copied and removed', async () => {
    const post = (path: string, body: object) => service.send(`${files}/${path}`, { body })
    const remove = (path: string, more = '') => service.send(`${files}${toQuery(path)}${more}`, { method: 'DELETE' })
    expect((await post('folders', { path: '/srv/t/a/b' })).json).toMatchObject({ created: true })
    expect((await post('folders', { path: '/srv/t/a/b' })).json).toMatchObject({ created: false })
    await bash('echo x > /srv/t/a/x; echo y > /srv/t/y')
    expect((await post('move', { from: '/srv/t/a/x', to: '/srv/t/y' })).json.code).toBe('file/exists')
    expect((await post('move', { from: '/srv/t/a/x', to: '/srv/t/y', replace: true })).status).toBe(200)
    expect((await post('copy', { from: '/srv/t', to: '/srv/t2' })).status).toBe(201)
    expect(await bash('cat /srv/t/y /srv/t2/y; ls /srv/t/a')).toBe('x\nx\nb\n')
    expect((await remove('/srv/t')).json.code).toBe('file/not-empty')
    expect((await remove('/srv/t', '&recursive=true')).status).toBe(200)
    expect((await remove('/srv/t', '&recursive=true')).json.code).toBe('file/not-found')
    expect((await remove('/', '&recursive=true')).json.code).toBe('file/path')
    expect((await post('move', { from: '/', to: '/srv/root' })).json.code).toBe('file/path')
    expect((await service.send(`${files}/stat${toQuery('/srv/t2/y')}`)).json).toMatchObject({ type: 'file', size: 2 })
    expect((await service.send(`${files}/list${toQuery('/srv/t2')}`)).json).toMatchObject({ truncated: false })
  })
})
