import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RequestFields, runningService, type TestService } from '../support/processes/runningService.ts'

/** Commands and files through REST, in a real sandbox. */
let service: TestService
let sandbox: string

beforeAll(async () => {
  service = await runningService()
  const { status, json, text } = await service.send('/v1/sandboxes', { body: { name: 'Ärger mit Ada!' } })
  expect(status, text).toBe(201)
  sandbox = `/v1/sandboxes/${json.id}`
})
afterAll(() => service?.close())

const exec = async (body: object) => {
  const answer = await service.send(`${sandbox}/exec`, { body })
  expect(answer.status, answer.text).toBe(200)
  return answer.json
}

describe('exec', () => {
  test('reports the duration in tenths of a millisecond', async () => {
    const { duration_ms: took } = await exec({ command: 'true' })
    expect(String(took)).toMatch(/^\d+(\.\d)?$/)
  })

  test('streams its output while it runs', async () => {
    const watch = 'w'.repeat(24)
    const running = exec({ command: 'mkfifo /tmp/go; echo one; read -t 20 < /tmp/go; echo two', watch })
    const read = async (since: number) => {
      const { status, json, text } = await service.send(`${sandbox}/exec?watch=${watch}&since=${since}&wait_ms=20000`)
      expect(status, text).toBe(200)
      return json
    }
    const first = await read(0)
    expect(first).toMatchObject({ output: expect.stringContaining('one\n'), ended: false })
    await exec({ command: 'echo > /tmp/go' })
    let [output, last] = [first.output, first]
    while (!last.ended) {
      last = await read(last.cursor)
      output += last.output
    }
    expect(output).toContain('two\n')
    expect((await running).stdout).toBe('one\ntwo\n')
  })

  test('returns both streams and the exit code under both names', async () => {
    expect(await exec({ command: 'echo out; echo err >&2; exit 3' })).toMatchObject({
      stdout: 'out\n',
      stderr: 'err\n',
      encoding: 'utf8',
      exit_code: 3,
      exitCode: 3,
      timed_out: false,
      truncated: false,
      duration_ms: expect.any(Number),
    })
  })

  test('accepts the command verbatim with quotes, dollar signs, line breaks and Unicode', async () => {
    const text = `it's "quoted" $HOME \`x\` \\ ü\n second line`
    expect((await exec({ command: `printf %s "$TEXT"`, env: { TEXT: text } })).stdout).toBe(text)
    expect((await exec({ command: `cat <<'END'\n${text}\nEND` })).stdout).toBe(`${text}\n`)
  })

  test('starts in the given folder with empty input', async () => {
    expect((await exec({ command: 'pwd; cat; echo end', cwd: '/tmp' })).stdout).toBe('/tmp\nend\n')
  })

  test('reports a signal as 128 plus its number', async () => {
    expect((await exec({ command: 'kill -9 $$' })).exit_code).toBe(137)
  })

  test('kills the process group on timeout and returns the partial output', async () => {
    const cut = await exec({ command: 'echo before; sleep 1000 & sleep 1000', timeout: 5 })
    expect(cut).toMatchObject({ stdout: 'before\n', exit_code: 124, timed_out: true })
    const alive = await exec({ command: `ps -eo stat=,args= | grep -v ^Z | grep -c '[s]leep 1000'` })
    expect(alive.stdout).toBe('0\n')
  })

  test('returns output that is not text as base64 and reports the encoding', async () => {
    const binary = await exec({ command: `printf '\\377\\000\\376'; printf text >&2` })
    expect(binary.encoding).toBe('base64')
    expect(Buffer.from(binary.stdout, 'base64')).toEqual(Buffer.from([255, 0, 254]))
    expect(Buffer.from(binary.stderr, 'base64').toString()).toBe('text')
  })

  test('returns ten megabytes of a stream and reports truncation', async () => {
    // A character has three bytes, so the limit falls inside one.
    const loud = await exec({ command: `perl -e 'print "\\xe2\\x82\\xac" x 4_000_000'` })
    expect(loud).toMatchObject({ truncated: true, encoding: 'utf8', exit_code: 0 })
    expect(loud.stdout.length).toBe(Math.floor((10 * 1024 * 1024) / 3))
    expect(loud.stdout.endsWith('€')).toBe(true)
  })

  test('does not mix concurrent commands', async () => {
    const names = Array.from({ length: 16 }, (_, index) => `command ${index}`)
    const answers = await Promise.all(names.map((name) => exec({ command: `echo '${name}'` })))
    expect(answers.map(({ stdout }) => stdout)).toEqual(names.map((name) => `${name}\n`))
  })

  test('shares files and processes with the terminals of the sandbox', async () => {
    await service.send(`${sandbox}/pty`, { body: { command: 'echo from the terminal > /tmp/note; exec sleep 1000' } })
    const result = await exec({
      command: 'until [ -s /tmp/note ]; do sleep 0.05; done; cat /tmp/note; pgrep -fc "^sleep 1000"',
    })
    expect(result.stdout).toBe('from the terminal\n1\n')
  })

  test('uses the sandbox name as the host name with unsupported characters replaced', async () => {
    expect((await exec({ command: 'hostname' })).stdout).toBe('arger-mit-ada\n')
  })
})

describe('files', () => {
  const upload = (body: object) => service.send(`${sandbox}/files/upload/json`, { body })
  const read = (path: string, rest = '', options: RequestFields = {}) =>
    service.send(`${sandbox}/files/read?path=${encodeURIComponent(path)}${rest}`, options)

  test('are returned unchanged from folders created on upload', async () => {
    const path = '/root/new folder/ü.txt'
    const content = 'Ünïcode ✓\n'
    const written = await upload({ path, content })
    expect(written.status).toBe(201)
    expect(written.json).toEqual({ status: 'ok', success: true, path, size: 14, bytes_written: 14 })
    expect((await read(path)).json).toEqual({ path, content, encoding: 'utf8', size: 14 })
    expect((await read(path, '&encoding=base64')).json.content).toBe(Buffer.from(content).toString('base64'))
    expect((await exec({ command: `cat '${path}'` })).stdout).toBe(content)
  })

  test('are transferred as base64 if they are not text', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, value) => value))
    await upload({ path: '/tmp/bytes', content: bytes.toString('base64'), encoding: 'base64' })
    const answer = await read('/tmp/bytes')
    expect(answer.json).toMatchObject({ encoding: 'base64', size: 256 })
    expect(Buffer.from(answer.json.content, 'base64')).toEqual(bytes)
  })

  test('may be empty', async () => {
    await upload({ path: '/tmp/empty', content: '' })
    expect((await read('/tmp/empty')).json).toEqual({ path: '/tmp/empty', content: '', encoding: 'utf8', size: 0 })
  })

  test('of several megabytes are transferred completely', async () => {
    const content = 'steward '.repeat(1024 * 1024)
    expect((await upload({ path: '/tmp/large', content })).json.size).toBe(content.length)
    expect((await read('/tmp/large')).json.content === content).toBe(true)
  })

  test('are listed with their kind and with folders first', async () => {
    await exec({ command: 'mkdir -p /tmp/list/b && cd /tmp/list && echo 12345 > c && ln -s c a && mkfifo d' })
    const { json } = await service.send(`${sandbox}/files/list?path=/tmp/list`)
    expect(json.entries).toEqual([
      expect.objectContaining({ name: 'b', path: '/tmp/list/b', type: 'directory' }),
      expect.objectContaining({ name: 'a', type: 'symlink' }),
      expect.objectContaining({ name: 'c', type: 'file', size: 6 }),
      expect.objectContaining({ name: 'd', type: 'other' }),
    ])
  })
})
