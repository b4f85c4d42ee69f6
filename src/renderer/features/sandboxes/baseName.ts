/** Returns the label of the base system used without an image. */
export function getBaseName(runtime: string): string {
  return runtime === 'bubblewrap' ? 'This computer’s system' : `Default image (${runtime})`
}

export function getRuntimeLabel(runtime: string): string {
  return runtime === 'bubblewrap' ? 'Linux namespaces' : runtime === 'docker' ? 'Docker' : runtime
}
