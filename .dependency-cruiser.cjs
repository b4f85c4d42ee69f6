// Who may import whom: docs/architecture.md tells why. `npm run check` runs it; test/integration/arrows.test.ts plants one violation of each.
const forbid = (name, from, to) => ({ name, severity: 'error', from, to })
const src = (path, pathNot) => ({ path: `^src/${path}`, ...(pathNot && { pathNot }) })
const only = (vendor, ...owners) =>
  forbid(
    `${vendor.replaceAll(/[^a-z0-9-]/g, '')}-has-one-owner`,
    { path: '^src', pathNot: owners.map((it) => `^src/${it}`) },
    { path: `(^|node_modules/)${vendor}(/|$)`, dependencyTypesNot: ['type-only'] },
  )

module.exports = {
  forbidden: [
    forbid('shared-is-a-leaf', src('shared', '\\.test\\.ts$'), { path: '.', pathNot: '^src/shared|node_modules/zod/' }),
    forbid('renderer-talks-over-the-wire', src('renderer'), src('(main|preload)')),
    forbid('preload-knows-shared-only', src('preload'), src('(main|renderer)')),
    forbid('product-of-main-knows-no-view', src('main'), src('(renderer|preload)')),
    forbid('main-has-rooms', src('main/[^/]+$'), {}),
    forbid(
      'halves-below-shell',
      src('main/(agent|service|host|platform|storage)'),
      src('main/(shell|entries|commands)/'),
    ),
    forbid('halves-meet-on-the-wire', src('main/(agent|service|host)/'), {
      path: '^src/main/(agent|service|host)/',
      pathNot: '^src/main/$1/',
    }),
    forbid('foundations-know-no-half', src('main/(platform|storage)/'), src('main/(agent|service|host)/')),
    forbid('foundations-know-no-config', src('main/(platform|storage|host)/'), src('main/config/')),
    forbid('service-knows-no-config', src('main/service/', '[.]test[.]ts$'), {
      path: '^src/main/config/',
      dependencyTypesNot: ['type-only'],
    }),
    forbid('config-knows-types-of-the-service-only', src('main/config/', '[.]test[.]ts$'), {
      path: '^src/main/(service|agent|host)/',
      dependencyTypesNot: ['type-only'],
    }),
    forbid(
      'slices-meet-in-compose',
      src('main/(agent|service|host)/([^/]+)/', '^src/main/(agent|service)/(http|portProxy|api|tools|compose)/'),
      {
        path: '^src/main/$1/[^/]+/',
        pathNot: '^src/main/$1/($2|base|compose)/',
        dependencyTypesNot: ['type-only'],
      },
    ),
    forbid(
      'slices-know-no-local-api',
      src('main/agent/[^/]+/', '^src/main/agent/(api|compose)/'),
      src('main/agent/api/'),
    ),
    forbid('slices-know-no-composition', src('main/(agent|service|host)/([^/]+)/', '^src/main/[a-z]+/compose/'), {
      path: '^src/main/$1/compose(/|[.]ts$)',
    }),
    forbid(
      'intents-have-one-writer',
      src('', '^src/main/agent/approvals/(intentLifecycle|intentStateRepository)[.]ts$'),
      { path: '^src/main/agent/approvals/intentStateRepository[.]ts$', dependencyTypesNot: ['type-only'] },
    ),
    forbid('bubblewrap-knows-no-docker', src('main/host/runtimes/bubblewrap/'), src('main/host/runtimes/docker/')),
    forbid('docker-knows-no-bubblewrap', src('main/host/runtimes/docker/'), src('main/host/runtimes/bubblewrap/')),
    forbid(
      'inside-knows-no-runtime',
      src('main/host/runtimes/inside/'),
      src('main/host/runtimes/(bubblewrap|docker)/'),
    ),
    forbid(
      'emulator-knows-no-worker',
      src('main/host/terminals/emulator/'),
      src('main/host/terminals/(worker|session)/'),
    ),
    forbid('worker-knows-no-session', src('main/host/terminals/worker/'), src('main/host/terminals/session/')),
    forbid('features-meet-in-app', src('renderer/features/([^/]+)/'), {
      path: '^src/renderer/(features|app)/',
      pathNot: '^src/renderer/features/$1/',
    }),
    forbid('ui-knows-no-feature', src('renderer/(ui|agent)/'), src('renderer/(features|app)/')),
    only('electron', 'main/shell/', 'main/entries/main.ts', 'preload/'),
    only('keytar', 'main/platform/secrets/keychain'),
    only('@lydell/node-pty', 'main/host/runtimes/'),
    only('better-sqlite3', 'main/storage/sqlite/'),
    only('pg', 'main/storage/postgres/'),
    // Servers and connections are made in one room; a half that forwards says only where to. Images of strangers are
    // fetched by a client that checks each address as it connects.
    forbid(
      'http-has-one-room',
      src(
        '',
        '^src/main/(platform/|agent/api/serviceProxy[.]ts|service/portProxy/previews[.]ts|service/inference/canonical/fetchedImages[.]ts)|[.]test[.]ts$',
      ),
      { path: '^(node:)?https?$', dependencyTypesNot: ['type-only'] },
    ),
    only('find-my-way', 'main/platform/http/'),
    only('undici', 'main/service/inference/providers/upstreamPools.ts'),
    // Loading it holds a thread for long: only the thread that asks chains has it, and tests judge by it.
    only('viem', 'main/platform/chain/', '.*[.]test[.]ts$'),
    only('ox', 'main/agent/', 'main/service/'),
    forbid('no-cycles', {}, { circular: true }),
    forbid('no-tests-in-product', src('', '\\.test\\.tsx?$'), { path: '\\.test\\.tsx?$|^test/' }),
    forbid('no-orphans', { orphan: true, path: '^src', pathNot: '\\.(d|test)\\.tsx?$|\\.(css|html)$' }, {}),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: 'specify',
    tsConfig: { fileName: 'tsconfig.main.json' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.tsx', '.js', '.cjs', '.json'],
      conditionNames: ['import', 'node', 'default'],
    },
  },
}
