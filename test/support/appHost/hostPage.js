import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge'

/**
 * A host of MCP Apps, by the bridge of the extension's own package: it shows a page as a host does, in a frame without an
 * origin and under the page's own policy, and leads its calls to the client that stands beside it.
 */
let bridge

window.showApp = async ({ theme, mayCall }) => {
  document.querySelector('iframe')?.remove()
  const frame = document.createElement('iframe')
  frame.sandbox = 'allow-scripts'
  frame.title = 'Steward'
  frame.style = 'width: 100%; border: 1px solid #8888; border-radius: 8px'
  document.querySelector('main').append(frame)
  bridge = new AppBridge(
    null,
    { name: 'host', version: '1' },
    { openLinks: {}, ...(mayCall && { serverTools: {} }) },
    { hostContext: { theme } },
  )
  const ready = new Promise((resolve) => {
    bridge.oninitialized = resolve
  })
  if (mayCall) bridge.oncalltool = (params) => window.callTool(params)
  bridge.onopenlink = async ({ url }) => {
    window.links = [...(window.links ?? []), url]
    return {}
  }
  bridge.onsizechange = ({ height }) => {
    frame.style.height = `${height}px`
  }
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow))
  frame.src = '/app'
  await ready
  bridge.sendToolInput({ arguments: {} })
}
window.giveResult = (result) => bridge.sendToolResult(result)
window.setTheme = (theme) => bridge.setHostContext({ theme })
window.endApp = () => bridge.teardownResource({})
