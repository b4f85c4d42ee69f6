import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxInstance } from '#host/runtimes/sandboxRuntime.ts'
import { testRuntime } from '../support/fixtures/bubblewrapSandboxes.ts'
import { createSandboxSpec, never } from '../support/fixtures/sandboxSpecs.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'

/** Programs that exercise the system call filter: threads, terminals, sockets, copies, debuggers. */
const uses: Readonly<Record<string, string>> = {
  git: 'git init -q g && cd g && git config user.email a@b && git config user.name a && seq 9000 > f && git add f && git commit -qm x && git gc -q && git clone -q . ../h',
  python3: `python3 -c 'import multiprocessing, ssl, sqlite3; assert multiprocessing.Pool(2).map(len, ["a", "b"]) == [1, 1]'`,
  gcc: 'echo "int main() { return 0; }" > a.c && gcc -pthread -fsanitize=thread -o a a.c && ./a',
  dpkg: 'mkdir -p d/DEBIAN && printf "Package: x\\nVersion: 1\\nArchitecture: all\\nMaintainer: a <a@b>\\nDescription: x\\n" > d/DEBIAN/control && dpkg-deb --root-owner-group -b d x.deb && dpkg -I x.deb',
  vim: `script -qec 'vim -es -u NONE +"call setline(1, 123)" +"w! v" +q' /dev/null; test "$(cat v)" = 123`,
  tmux: `tmux -f /dev/null new-session -d 'sleep 50' && tmux ls && tmux kill-server`,
  sqlite3: `sqlite3 s.db 'create table t (a); insert into t values (1); select a from t'`,
  'ssh-keygen': `ssh-keygen -q -t ed25519 -N '' -f k`,
  gpg: `mkdir -p -m 700 gpg && gpg --batch --homedir gpg --passphrase '' --quick-gen-key a default default never && gpgconf --homedir "$PWD/gpg" --kill all`,
  tar: 'mkdir -p t && tar cf - -C /usr/share doc/bash | tar xf - --no-same-owner -C t && cp --reflink=auto -r t u',
  gdb: `gdb -batch -ex run --args /bin/true`,
  ip: 'ip addr && ip route && ss -lntp',
  java: 'java -version',
  openssl: 'openssl speed -seconds 1 sha256 && openssl rand -hex 4',
}

const isHere = (program: string): boolean => {
  try {
    execFileSync('sh', ['-c', 'command -v "$1"', 'sh', program], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

describe('Debian programs', () => {
  const runtime = testRuntime({ folder: temporaryFolder('programs') })
  let sandbox: SandboxInstance
  beforeAll(async () => {
    sandbox = await runtime.create(createSandboxSpec(), never)
  })
  afterAll(async () => {
    await sandbox.stop()
    await runtime.remove(sandbox.id)
  })

  test.for(Object.entries(uses))('%s works in a sandbox', async ([program, command], context) => {
    if (!isHere(program)) context.skip(`${program} is not installed here`)
    const folder = `/root/of-${program}`
    const { exitCode, stderr } = await sandbox.exec({
      command: `mkdir -p ${folder} && cd ${folder} && { ${command}; } > out`,
      timeoutMs: 120_000,
      signal: never,
    })
    expect({ exitCode, stderr: exitCode === 0 ? '' : stderr.toString() }).toEqual({ exitCode: 0, stderr: '' })
  })
})
