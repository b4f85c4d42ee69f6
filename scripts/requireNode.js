/** Node.js that Steward runs on, as `engines` in package.json says. */
const minMajor = 24

/** Ends the program with one sentence under a Node.js that is too old. In JavaScript that every Node.js reads. */
export function requireNode(versions = process.versions) {
  if (Number(versions.node.split('.')[0]) >= minMajor) return
  process.stderr.write(
    `steward: Node.js ${minMajor} or newer is required, found ${versions.node}. ` +
      'Use the version that ./setup installed: node_modules/.bin/node.\n',
  )
  process.exit(2)
}
