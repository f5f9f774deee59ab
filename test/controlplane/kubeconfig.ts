/** How a client authenticates: by token, or by client certificate. PEM and token in clear. */
export type Credential = { readonly token: string } | { readonly certPem: string; readonly keyPem: string };

/** A kubeconfig file's text (JSON, which YAML readers accept). Self-contained: it refers to no other file. */
export function kubeconfigText(url: string, caPem: string, credential: Credential): string {
  const user =
    "token" in credential
      ? { token: credential.token }
      : { "client-certificate-data": base64(credential.certPem), "client-key-data": base64(credential.keyPem) };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "test", cluster: { server: url, "certificate-authority-data": base64(caPem) } }],
    users: [{ name: "test", user }],
    contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
    "current-context": "test",
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
