package io.kinema.jobs.storage;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.engine.BadRequestException;
import java.net.URI;
import org.gaul.s3proxy.junit.S3ProxyExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;

/** The contract, through the AWS SDK against a server that speaks S3's protocol. */
class S3StorageTest extends StorageContract {
    @RegisterExtension
    private final S3ProxyExtension server = S3ProxyExtension.builder().withCredentials("access", "secret").build();

    @Override
    protected OutputStorage open() {
        S3Client client = S3Storage.builder().region(Region.US_EAST_1).endpointOverride(URI.create(server.getUri().toString())).forcePathStyle(true)
                .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create(server.getAccessKey(), server.getSecretKey()))).build();
        if (client.listBuckets().buckets().stream().noneMatch(bucket -> bucket.name().equals("kinema"))) {
            client.createBucket(request -> request.bucket("kinema"));
        }
        return S3Storage.of(client, "kinema", "queue-" + folder.getFileName().toString().replaceAll("[^a-z0-9]", ""));
    }

    @ParameterizedTest
    @ValueSource(strings = {"s3://", "http://bucket", "s3://b/../x", "s3://bucket?regio=eu", "s3:///prefix", "s3://bucket?endpoint=:&region=x"})
    void anotherUrlIsRefused(String url) {
        assertThatThrownBy(() -> S3Storage.open(url)).isInstanceOf(BadRequestException.class).hasMessageContaining("expected s3://BUCKET");
    }

    @Test
    void aUrlNamesBucketPrefixEndpointAndRegion() {
        S3Storage storage = S3Storage.open("s3://bucket/some/prefix?endpoint=http://127.0.0.1:1&region=eu-central-1");
        storage.close();
        assertThatThrownBy(() -> storage.find(new StorageKey("x"))).as("used after close").isInstanceOf(RuntimeException.class);
    }
}
